package lab

import (
	"context"
	"runtime"
	"slices"
	"sort"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// trial is the outcome of one load, which has a warm-up, a measured phase (From to Until), and a drain: a wait for messages that are still
// under way. For example, a load of 1,000/s for 10 s has 10,000 messages in Measured.Due, besides those of the warm-up in Warmup.Due.
type trial struct {
	worker.Outcome // counts, times, samples and histograms
	trialCost      // what was used

	Rate        float64       // offered, messages per second; 0 in a closed loop
	Scheduled   bool          // the load was a schedule for a time, not a closed loop or a number of messages
	Senders     int           // producers; several may share a client
	Parts       []agent.Part  // of agents in other processes; none if the load ran in this process
	SampleEvery time.Duration // between two samples, before Outcome.Samples was thinned out
	Series      []store.Tick
	Faults      []store.FaultEvent
	Doubts      []store.Doubt  // reasons to trust the figures less that don't follow from them
	relayed     *worker.Pauses // of all relays; nil if there are none, or if a fault is aimed at one
	previous    worker.Outcome // of the trial before on the same topics; zero if there was none
	// limitSetting is the limit of the broker's queues that may have dropped messages; empty if none may have.
	limitSetting string
}

// runTrial runs one load at a rate, 0 for a closed loop, whatever limits it (growingTrial). It meters the measured phase and the drain,
// injects the spec's faults, and reports samples. stage is the load's name for the live view. An error is in the trial's Err.
func (b *bench) runTrial(ctx context.Context, stage string, rate float64, load worker.Load) trial {
	guarded, unguard := b.guard(ctx, part{name: study.PartRelay, instance: b.clients.relays})
	b.report(Event{Kind: Staged, Stage: stage, Target: rate})
	runtime.GC() // or garbage of the trial before would be collected during this one
	m, faults := newMetering(b, stage, rate), &faultInjector{bench: b}
	m.follow(&load, func(at int64) { faults.begin(guarded, at) })
	load.Lossy = b.spec.Delivery == "at-most-once" || b.limit.Given() // the drain must not wait for messages that were dropped
	m.remoteErr = b.meters.remote.relateClocks(guarded)
	out, parts := b.clients.agent.Run(guarded, load)

	injected, faultDoubts := faults.end()
	if died := unguard(); died != nil {
		out.Err = died
	}
	dropped := mostDrops(b.limit, out)
	out.Warmup.MayDrop, out.Measured.MayDrop = dropped.warmup, dropped.measured
	cost, costDoubts := m.finish(ctx, out, parts)
	relayed, relayDoubts := b.relayPauses(ctx, out)
	t := trial{
		Outcome: out, trialCost: cost, Rate: rate, Scheduled: load.Schedule != nil && load.Messages == 0,
		Senders: b.spec.Topics * b.spec.ProducersPerTopic, Parts: parts, SampleEvery: worker.SampleEvery, Series: m.series(out),
		Faults: injected, Doubts: slices.Concat(faultDoubts, costDoubts, relayDoubts), relayed: relayed,
		previous: b.previous, limitSetting: dropped.setting,
	}
	b.previous = out
	if len(parts) > 0 {
		b.record.Agents = storedAgents(parts)
	}
	return t
}

// phaseSeconds returns the length of the measured phase.
func (t trial) phaseSeconds() float64 { return seconds(t.From, t.Until) }

// offeredRate returns the mean rate that was due in the measured phase; 0 if the phase is empty.
func (t trial) offeredRate() float64 { return perSecond(t.Measured.Due, t.phaseSeconds()) }

// throughput is how many messages per second were confirmed and received. With two subscriptions, each message is received twice.
type throughput struct{ acked, received float64 }

// phaseThroughput returns the throughput of the measured phase's messages. If the broker fell behind, only those that arrived during the
// phase count, not those that arrived in the drain. For example, of 10,000 messages due in 10 s all arrived, but 4,000 of them in the
// drain: 600/s were received.
func (t trial) phaseThroughput() throughput {
	length := t.phaseSeconds()
	phase := throughput{acked: perSecond(t.Measured.Acked, length), received: perSecond(t.Measured.Received, length)}
	sampled, ok := t.sampledThroughput()
	if ok && missed(sampled.acked, phase.acked, length) { // so the rest was confirmed in the drain
		phase.acked = sampled.acked
	}
	if ok && missed(sampled.received, phase.received, length) {
		phase.received = sampled.received
	}
	return phase
}

// sampledThroughput returns the throughput between the first and the last sample of the measured phase, whichever phase the messages
// belong to. ok is false if there are fewer than two samples.
func (t trial) sampledThroughput() (_ throughput, ok bool) {
	var phase []worker.Sample
	for _, s := range t.Samples {
		if s.At >= t.From && s.At <= t.Until {
			phase = append(phase, s)
		}
	}
	if len(phase) < 2 {
		return throughput{}, false
	}
	first, last := phase[0], phase[len(phase)-1]
	elapsed := seconds(first.At, last.At)
	return throughput{
		acked: perSecond(last.Count.Acked-first.Count.Acked, elapsed), received: perSecond(last.Count.Received-first.Count.Received, elapsed),
	}, true
}

// latency returns the latency that goals bound: end to end, or until the confirmation if nobody subscribes.
func (b *bench) latency(t trial) hist.Snapshot {
	if b.spec.SubscriptionsPerTopic == 0 {
		return t.Histograms.Publish
	}
	return t.Histograms.EndToEnd
}

// throughputWhileSending returns how many messages per second came through while the trial was sending: the slower of confirming and
// receiving. It is 0 if there are too few samples to tell.
func (b *bench) throughputWhileSending(t trial) float64 {
	sampled, _ := t.sampledThroughput()
	if subscriptions := float64(b.spec.SubscriptionsPerTopic); subscriptions > 0 {
		return min(sampled.acked, sampled.received/subscriptions)
	}
	return sampled.acked
}

// nearlyAll is the share of messages after which the measurement of a throughput ends: a single late message must not decide it.
const nearlyAll = 0.99

// throughputUntilArrived returns how many messages per second came through the broker, from the start of the measured phase until nearly all
// had arrived, with the drain. If nothing holds a closed loop back, the client and the kernel take messages faster than the broker
// does. Then only the time until all have arrived tells how fast the broker is. For example, of 10,000 messages that were handed over within
// 1 s, 9,900 had arrived after 5 s: that is 1,980/s. It returns 0 if there are too few samples to tell.
func (t trial) throughputUntilArrived(subscriptions int) float64 {
	begin := sort.Search(len(t.Samples), func(i int) bool { return t.Samples[i].At >= t.From })
	samples := t.Samples[begin:]
	if len(samples) == 0 {
		return 0
	}
	first, last := samples[0], samples[len(samples)-1]
	all := arrived(last, subscriptions) - arrived(first, subscriptions)
	for _, s := range samples[1:] {
		came, elapsed := arrived(s, subscriptions)-arrived(first, subscriptions), seconds(first.At, s.At)
		if came >= nearlyAll*all && elapsed > 0 {
			return came / elapsed
		}
	}
	return 0
}

// arrived returns how many messages had come through by a sample: the mean over the subscriptions, or those confirmed if nobody subscribes.
func arrived(s worker.Sample, subscriptions int) float64 {
	if subscriptions == 0 {
		return float64(s.Count.Acked)
	}
	return float64(s.Count.Received) / float64(subscriptions)
}

// sendingTime returns the seconds, summed over all producers, until the last message was sent. The drain is left out. It is
// never 0, so that callers may divide by it.
func (t trial) sendingTime() float64 {
	return max(1e-9, seconds(t.Start, max(t.Until, t.LastSent))) * float64(max(1, t.Producers))
}

// seconds returns the time between two times in ns; 0 if the second is earlier.
func seconds(from, to int64) float64 { return max(0, float64(to-from)/1e9) }

// perSecond returns the rate of messages over a time in seconds; 0 if no time has passed.
func perSecond(messages int64, elapsed float64) float64 {
	if elapsed <= 0 {
		return 0
	}
	return float64(messages) / elapsed
}
