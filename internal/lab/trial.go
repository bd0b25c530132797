package lab

import (
	"context"
	"errors"
	"runtime"
	"sort"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// trial is one run of load with what it cost.
type trial struct {
	worker.Outcome
	Rate float64 // offered; 0: closed loop
	// Scheduled tells that the load was a schedule for a time, neither a closed loop nor a number of messages.
	Scheduled bool
	Senders   int          // producers, however many clients they share
	Parts     []agent.Part // of agents in other processes; none: it ran in this one
	Cost      store.Cost
	Window    time.Duration // over which the cost was taken
	Series    []store.Tick
	Faults    []store.FaultEvent

	SampleEvery time.Duration // between two of Outcome.Samples, of which older ones may be thinned out
	Doubts      []store.Doubt // those that do not follow from the figures

	GCPause time.Duration // in the measured phase, as the next two
	Queued  time.Duration // threads of this process were ready and waited for a core
	Stolen  time.Duration // by the hypervisor, of all cores

	relayed              *worker.Pauses       // of all relays together; nil: there are none, or a fault stops or ends them
	neighbours           provision.Neighbours // over the same time as Cost.Shares
	brokerMayBeNeighbour bool                 // an attached broker whose processes were not found may be one of them
}

// flow returns how many confirmations and deliveries came per second between the first and the last sample of the measured
// phase, whichever phase their messages belong to; false if there are fewer than two samples.
func (t trial) flow() (acked, received float64, ok bool) {
	var first, last *worker.Sample
	for i := range t.Samples {
		s := &t.Samples[i]
		if s.At >= t.From && s.At <= t.Until {
			if first == nil {
				first = s
			}
			last = s
		}
	}
	if first == nil || last == first {
		return 0, 0, false
	}
	elapsed := float64(last.At-first.At) / 1e9
	acked = float64(last.Count.Acked-first.Count.Acked) / elapsed
	received = float64(last.Count.Received-first.Count.Received) / elapsed
	return acked, received, true
}

// sendingTime returns the seconds, summed over all producers, until the last message was sent. The drain is left out. It is
// never 0, so that callers may divide by it.
func (t trial) sendingTime() float64 {
	return max(1e-9, seconds(t.Start, max(t.Until, t.LastSent))) * float64(max(1, t.Producers))
}

// nearly is the share of messages after which the measurement of a throughput ends: a single late message must not decide it.
const nearly = 0.99

// through returns how many messages per second came through the broker, from the start of the measured phase until nearly all
// had come. If nothing holds a closed loop back, the client and the kernel take messages faster than the broker does. Then
// only the time until all have come tells how fast the broker is.
func (t trial) through(subscriptions int) float64 {
	came := func(s worker.Sample) float64 {
		if subscriptions == 0 {
			return float64(s.Count.Acked)
		}
		return float64(s.Count.Received) / float64(subscriptions)
	}
	samples := t.Samples[sort.Search(len(t.Samples), func(i int) bool { return t.Samples[i].At >= t.From }):]
	if len(samples) == 0 {
		return 0
	}
	first, all := samples[0], came(samples[len(samples)-1])-came(samples[0])
	last := samples[sort.Search(len(samples)-1, func(i int) bool { return came(samples[i])-came(first) >= nearly*all })]
	if last.At == first.At {
		return 0
	}
	return (came(last) - came(first)) / (float64(last.At-first.At) / 1e9)
}

// rates returns how many messages of the measured phase were confirmed and delivered, per second of the phase; 0 if seconds
// is 0. If the broker fell behind, only messages that came during the phase count: those that came in the drain are no
// throughput.
func (t trial) rates(seconds float64) (acked, received float64) {
	if seconds <= 0 {
		return 0, 0
	}
	acked, received = float64(t.Measured.Acked)/seconds, float64(t.Measured.Received)/seconds
	if a, r, ok := t.flow(); ok {
		return throughput(acked, a, seconds), throughput(received, r, seconds)
	}
	return acked, received
}

// The flow is measured between two samples, so its edges are off by up to one sample each. It is behind the books only if it
// misses more than this share of the messages, and more than these many seconds' worth of them.
const missedShare, missedLong = 0.02, 0.1

// throughput returns the booked rate, or the flow if that is behind by more than its edges explain.
func throughput(booked, flow, seconds float64) float64 {
	if behind := 1 - flow/booked; behind > missedShare && behind*seconds > missedLong {
		return flow
	}
	return booked
}

// runTrial runs one load: it meters the measured phase and the drain, injects the spec's faults, samples the series and
// passes samples on to whoever watches.
func (b *bench) runTrial(ctx context.Context, stage string, rate float64, load worker.Load) trial {
	ctx, unguard := b.guard(ctx)
	defer unguard()
	b.stage(Event{Kind: Staged, Stage: stage, Target: rate})
	// A collection that a previous trial's garbage would otherwise force into this one.
	runtime.GC()
	m := newMetering(b, stage, rate)
	m.counted = load.Messages > 0
	faults := newFaults(b)
	load.Lossy = b.spec.Delivery == "at-most-once" || b.limit.Given() // what isn't there won't come
	load.Measuring = func(at int64) {
		m.schedule(at, load.Duration)
		faults.begin(ctx, at)
	}
	if m.counted {
		load.Sent = m.endNow
	}
	if hopeless := load.Hopeless; hopeless != nil {
		load.Hopeless = func(samples []worker.Sample) bool {
			if !hopeless(samples) {
				return false
			}
			m.endNow()
			return true
		}
	}
	load.Observe = m.observe
	m.unclocked = b.away.begin(ctx)
	out, parts := b.agent.Run(ctx, load)
	b.setMayDrop(&out)
	t := trial{
		Outcome: out, Rate: rate, Scheduled: load.Schedule != nil && load.Messages == 0, Senders: b.spec.Topics * b.spec.ProducersPerTopic,
		Series: m.series(out), SampleEvery: worker.SampleEvery, Parts: parts,
	}
	t.Faults, t.Doubts = faults.end()
	if cause := context.Cause(ctx); errors.Is(cause, errDied) || errors.As(cause, new(errRelay)) {
		t.Err = cause
	}
	m.finish(&t)
	b.askRelays(ctx, &t)
	b.before = out
	if len(parts) > 0 {
		b.record.Agents = agentsOf(parts)
	}
	return t
}

// A series has a tick every tickEvery. In long trials the ticks are further apart, so that there are maxTicks of them.
const (
	tickEvery = 500 * time.Millisecond
	maxTicks  = 4000
)

// series turns samples into ticks. Rates and backlog are exact however far apart the ticks are. The quantiles are those of the
// last half second before each tick.
func (m *metering) series(out worker.Outcome) []store.Tick {
	var ticks []store.Tick
	if len(out.Samples) == 0 {
		return nil
	}
	was, cpus := out.Samples[0], m.perSample.Values()
	every := max(int64(tickEvery), (out.Samples[len(out.Samples)-1].At-was.At)/maxTicks) - int64(worker.SampleEvery)/2
	for i, s := range out.Samples {
		if s.At-was.At < every {
			continue
		}
		seconds := float64(s.At-was.At) / 1e9
		t := store.Tick{
			OffsetNs: s.At - out.From, Phase: "measure", Backlog: s.Backlog,
			PublishRate: float64(s.Count.Acked-was.Count.Acked) / seconds,
			ReceiveRate: float64(s.Count.Received-was.Count.Received) / seconds,
			EndToEndP50: s.EndToEnd.P50, EndToEndP99: s.EndToEnd.P99,
		}
		if n := s.FromSend.Count - was.FromSend.Count; n > 0 {
			t.FromSendNs, t.FromSendCount = (s.FromSend.Sum-was.FromSend.Sum)/float64(n), n
		}
		if s.At < out.From {
			t.Phase = "warmup"
		} else if !s.Sending {
			t.Phase = "drain"
		}
		if j := i * len(cpus) / len(out.Samples); j < len(cpus) {
			t.BrokerCPU, t.GeneratorCPU = cpus[j].Broker, cpus[j].Generator
			t.BrokerUser, t.BrokerSystem, t.Sides = cpus[j].BrokerUser, cpus[j].BrokerSystem, cpus[j].Sides
		}
		ticks = append(ticks, t)
		was = s
	}
	return ticks
}
