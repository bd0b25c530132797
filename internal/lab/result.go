package lab

import (
	"strconv"

	"github.com/brokermark/brokermark/internal/store"
)

// measurement returns a trial in its stored form. producersPerTopic is the spec's.
func measurement(t trial, producersPerTopic int) store.Measurement {
	length := seconds(t.From, t.Until)
	if t.LastSent == 0 { // nothing was sent
		length = 0
	}
	m := store.Measurement{
		Books: t.Measured, Seconds: length, Latency: latency(t), ClockBoundNs: t.ClockBound, Cost: t.Cost, Series: t.Series, Faults: t.Faults,
		WarmupSeconds: seconds(t.Start, t.From), Corrected: corrected(t, length), Pauses: pauses(t), Streams: storedStreams(t, producersPerTopic),
	}
	m.PublishRate, m.ReceiveRate = t.rates(length)
	if len(t.Samples) > 0 {
		m.BacklogMax = new(t.BacklogMax)
	}
	if len(t.Faults) > 0 {
		m.Outage = outage(t)
	}
	if t.Measured.Sent > 0 {
		m.PayloadSize = float64(t.Measured.Bytes) / float64(t.Measured.Sent)
	}
	return m
}

func latency(t trial) store.Latency {
	h := t.Histograms
	return store.Latency{
		EndToEnd: h.EndToEnd, EndToEndService: h.EndToEndService, Publish: h.Publish, Service: h.Service,
		Lag: h.Lag, GeneratorLag: h.GeneratorLag,
	}
}

// corrected returns the latency from the actual send, corrected afterwards for messages that were not sent while a producer waited
// (hist.Snapshot.Corrected). The expected interval is the mean gap between two sends of one producer. docs/method.md says why we
// trust it less than the latency from the intended time; it is kept to compare with Raje (2019), who reports it. It is nil if nothing
// was measured.
func corrected(t trial, seconds float64) *store.Corrected {
	service := t.Histograms.EndToEndService
	if t.Measured.Expected == 0 { // nobody subscribes
		service = t.Histograms.Service
	}
	if service.Count() == 0 || seconds <= 0 || t.Measured.Sent == 0 {
		return nil
	}
	interval := int64(seconds * 1e9 * float64(t.Senders) / float64(t.Measured.Sent))
	h := service.Corrected(interval)
	return &store.Corrected{IntervalNs: interval, MeanNs: h.Mean(), P99Ns: h.Quantile(0.99)}
}

// storedStreams returns the books of every stream, with the messages that it lost.
func storedStreams(t trial, producersPerTopic int) []store.Stream {
	var list []store.Stream
	for _, s := range t.Streams {
		stream := store.Stream{
			Producer: s.Producer, Topic: strconv.Itoa(s.Producer / max(1, producersPerTopic)), Subscription: subscriptionName(s.Subscription),
			Books: s.Books, LostRangesCut: s.LostCut,
		}
		for _, lost := range s.Lost {
			stream.LostRanges = append(stream.LostRanges, [2]int64{int64(lost.First), int64(lost.Last)})
		}
		list = append(list, stream)
	}
	return list
}
