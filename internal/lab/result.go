package lab

import (
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// measurement returns a trial, the outcome of one load, in the form that records hold. producersPerTopic is the spec's.
func measurement(t trial, producersPerTopic int) store.Measurement {
	h, rates := t.Histograms, t.phaseThroughput()
	m := store.Measurement{
		Books: t.Measured, PublishRate: rates.acked, ReceiveRate: rates.received,
		ClockBoundNs: t.ClockBound, Cost: t.Cost, Series: t.Series, Faults: t.Faults, Listened: t.Listened,
		Latency: store.Latency{
			EndToEnd: h.EndToEnd, EndToEndService: h.EndToEndService, Publish: h.Publish, Service: h.Service,
			Lag: h.Lag, GeneratorLag: h.GeneratorLag,
		},
		WarmupSeconds: seconds(t.Start, t.From), Corrected: corrected(t), Pauses: pauses(t), Streams: storedStreams(t, producersPerTopic),
	}
	if t.LastSent != 0 { // something was sent
		m.Seconds = t.phaseSeconds()
	}
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

// corrected returns the latency from the actual send, corrected afterwards for messages that were not sent while a
// producer waited (hist.Snapshot.Corrected). The expected interval is the mean gap between two sends of one producer: 4
// producers that together send 1,000 messages in a phase of 2 s have one of 8 ms. docs/method.md says why we trust
// these figures less than the latency from the intended time; they are kept to compare with Raje (2019), who reports
// them. They are nil if nothing was measured.
func corrected(t trial) *store.Corrected {
	service := t.Histograms.EndToEndService
	if t.Measured.Expected == 0 { // there are no subscriptions
		service = t.Histograms.Service
	}
	length := t.phaseSeconds()
	if service.Count() == 0 || length == 0 || t.Measured.Sent == 0 {
		return nil
	}
	gap := int64(length * 1e9 * float64(t.Senders) / float64(t.Measured.Sent))
	h := service.Corrected(gap)
	return &store.Corrected{IntervalNs: gap, MeanNs: h.Mean(), P99Ns: h.Quantile(0.99)}
}

// storedStreams returns the books of each stream that the worker has kept, with the messages that it lost. Producers
// are numbered over all topics, so with 3 producers for each topic, producer 4 sends to topic 1.
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

// A series has a tick every tickEvery. In trials of more than half an hour, and of less for a curve of many rates, the ticks are further
// apart, so that there are at most maxTicks, and of all rates at most maxOfRates.
const (
	tickEvery  = 500 * time.Millisecond
	maxTicks   = 4000
	maxOfRates = 20_000
)

// series turns a trial's samples into the ticks of a record. Each tick has the rates since the one before, so no
// message before the last tick is left out, however far apart the ticks are. Its quantiles are only those of the last
// half second before it. Samples after the last tick, less than half a second in most trials, are left out.
func (m *metering) series(out worker.Outcome) []store.Tick {
	samples, cores := out.Samples, m.live.perSample.Values()
	if len(samples) == 0 {
		return nil
	}
	before, last := samples[0], samples[len(samples)-1]
	regular := int64(tickEvery - worker.SampleEvery/2) // a bit less, since samples are not exactly SampleEvery apart
	rates := max(1, len(m.bench.spec.Curve.Rates)+len(m.bench.spec.Curve.Fractions))
	leastGap := max(regular, (last.At-before.At)/int64(max(1, min(maxTicks, maxOfRates/rates))))
	var ticks []store.Tick
	for i, s := range samples {
		if s.At-before.At < leastGap {
			continue
		}
		t := tickBetween(before, s)
		t.OffsetNs = s.At - out.From
		t.Phase = phaseName(s, out.From)
		// The cores in use were noted at the same samples, but of a long trial either list keeps only every second,
		// fourth, … value. So the place in one list is scaled to the other: sample 300 of 1,000 has the cores at 150 of
		// 500, which were noted within one value of it.
		if j := i * len(cores) / len(samples); j < len(cores) {
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
		PublishRate: perSecond(s.Count.Acked-before.Count.Acked, elapsed),
		ReceiveRate: perSecond(s.Count.Received-before.Count.Received, elapsed),
		EndToEndP50: s.EndToEnd.P50, EndToEndP99: s.EndToEnd.P99,
	}
	if n := s.FromSend.Count - before.FromSend.Count; n > 0 {
		t.FromSendNs, t.FromSendCount = (s.FromSend.Sum-before.FromSend.Sum)/float64(n), n
	}
	return t
}

// phaseName names the phase in which a sample was taken, as records do. from is the start of the measured phase.
func phaseName(s worker.Sample, from int64) string {
	switch {
	case s.At < from:
		return "warmup"
	case !s.Sending:
		return "drain"
	}
	return "measure"
}
