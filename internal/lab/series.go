package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// A series has a tick every tickEvery. In long trials the ticks are further apart, so that there are at most maxTicks.
const (
	tickEvery = 500 * time.Millisecond
	maxTicks  = 4000
)

// series turns samples into ticks. Rates and backlog are exact however far apart the ticks are. The quantiles are those of the
// last half second before each tick.
func (m *metering) series(out worker.Outcome) []store.Tick {
	samples, cores := out.Samples, m.perSample.Values()
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
