package lab

import (
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
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

// A series has a tick every tickEvery. In long trials the ticks are further apart, so that there are at most maxTicks.
const (
	tickEvery = 500 * time.Millisecond
	maxTicks  = 4000
)

// series turns samples into ticks. Rates and backlog are exact however far apart the ticks are. The quantiles are those of the
// last half second before each tick.
func (m *metering) series(out worker.Outcome) []store.Tick {
	samples, cores := out.Samples, m.live.perSample.Values()
	if len(samples) == 0 {
		return nil
	}
	before := samples[0]
	every := max(int64(tickEvery), (samples[len(samples)-1].At-before.At)/maxTicks)
	leastGap := every - int64(worker.SampleEvery)/2 // samples are not exactly SampleEvery apart
	var ticks []store.Tick
	for i, s := range samples {
		if s.At-before.At < leastGap {
			continue
		}
		t := tickBetween(before, s)
		t.OffsetNs, t.Phase = s.At-out.From, phase(s, out.From)
		if j := i * len(cores) / len(samples); j < len(cores) { // the two may have been thinned out differently
			t.BrokerCPU, t.GeneratorCPU = cores[j].Broker, cores[j].Generator
			t.BrokerUser, t.BrokerSystem, t.Sides = cores[j].BrokerUser, cores[j].BrokerSystem, cores[j].Sides
		}
		ticks = append(ticks, t)
		before = s
	}
	return ticks
}

// tickBetween returns the rates between two samples, and the backlog and the latency at the second.
func tickBetween(before, s worker.Sample) store.Tick {
	elapsed := seconds(before.At, s.At)
	t := store.Tick{
		Backlog:     s.Backlog,
		PublishRate: float64(s.Count.Acked-before.Count.Acked) / elapsed,
		ReceiveRate: float64(s.Count.Received-before.Count.Received) / elapsed,
		EndToEndP50: s.EndToEnd.P50, EndToEndP99: s.EndToEnd.P99,
	}
	if n := s.FromSend.Count - before.FromSend.Count; n > 0 {
		t.FromSendNs, t.FromSendCount = (s.FromSend.Sum-before.FromSend.Sum)/float64(n), n
	}
	return t
}

// phase names the phase in which a sample was taken, as records do. from is the start of the measured phase.
func phase(s worker.Sample, from int64) string {
	switch {
	case s.At < from:
		return "warmup"
	case !s.Sending:
		return "drain"
	}
	return "measure"
}
