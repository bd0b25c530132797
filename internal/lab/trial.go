package lab

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// trial is the outcome of one load, which has a warm-up, a measured phase (From to Until), and a drain: a wait for
// messages that are still under way. For example, a load of 1,000/s for 10 s has 10,000 messages in Measured.Due,
// besides those of the warm-up in Warmup.Due.
type trial struct {
	worker.Outcome // counts, times, samples and histograms
	trialCost      // what was used

	// What was asked for.
	Rate      float64 // offered, messages per second; 0 in a closed loop
	Scheduled bool    // the load was a schedule for a time, not a closed loop or a number of messages
	Senders   int     // producers that send one after the other; Outcome.Producers counts the clients, which several may share

	// What was seen beside the outcome.
	Parts       []agent.Part  // of agents in other processes; none if the load ran in this process
	SampleEvery time.Duration // between two samples, before Outcome.Samples was thinned out
	Series      []store.Tick
	Faults      []store.FaultEvent
	Listened    *store.Listened // nil if the trial was not to look for messages that come again
	Doubts      []store.Doubt   // reasons to trust the figures less that don't follow from them
	relayed     *worker.Pauses  // of all relays; nil if there are none, or if a fault is aimed at one

	before []trial // others at the same rate, whose counts, latencies and costs are counted in (summedUp)

	// What explains missing messages and those that are too many.
	previous     worker.Outcome // of the trial before on the same topics; zero if there was none
	limitSetting string         // the limit of the broker's queues that may have dropped messages; empty if none may have
}

// runTrial runs one load at a rate, 0 for a closed loop, whatever limits it (growingTrial). It meters the measured
// phase and the drain, injects the spec's faults, and reports samples. stage is the load's name for the live view. An
// error is in the trial's Err.
func (b *bench) runTrial(ctx context.Context, stage string, rate float64, load worker.Load) trial {
	b.report(Event{Kind: Staged, Stage: stage, Target: rate})
	runtime.GC() // or garbage of the trial before would be collected during this one

	// guarded ends with ctx, or when the broker or a relay dies.
	guarded, unguard := b.guard(ctx, part{name: study.PartRelay, instance: b.clients.relays})
	meters, faults := newMetering(b, stage, rate), &faultInjector{bench: b}
	meters.follow(&load, func(measuredFrom int64) { faults.begin(guarded, measuredFrom) })
	meters.remoteErr = b.meters.remote.relateClocks(guarded)
	var looksForMore bool
	load.Listen, looksForMore = b.listenFor(load)
	// The drain must not wait for messages that may be lost or dropped.
	load.Lossy = b.spec.Delivery == "at-most-once" || b.limit.Given()
	out, parts := b.clients.agent.Run(guarded, load)
	injected, faultDoubts := faults.end()
	if died := unguard(); died != nil {
		out.Err = died
	}
	dropped := mostDrops(b.limit, out)
	out.Warmup.MayDrop, out.Measured.MayDrop = dropped.warmup, dropped.measured
	out.Measured.Dropped = out.Dropped // in which phase is not known
	cost, costDoubts := meters.finish(ctx, out, parts)
	relayed, relayDoubts := b.relayPauses(ctx, out)

	var listened *store.Listened
	if looksForMore {
		listened = &store.Listened{Ns: int64(out.Listened), RedeliveryNs: int64(b.redelivery)}
	}
	previous := b.previous // whose messages may still come during this trial
	b.previous = out
	if len(parts) > 0 {
		b.record.Agents = storedAgents(parts)
	}
	return trial{
		Outcome: out, trialCost: cost,
		Rate: rate, Scheduled: load.Schedule != nil && load.Messages == 0, Senders: b.spec.Topics * b.spec.ProducersPerTopic,
		Parts: parts, SampleEvery: worker.SampleEvery, Series: meters.series(out), Faults: injected, Listened: listened,
		Doubts: slices.Concat(faultDoubts, costDoubts, relayDoubts), relayed: relayed,
		previous: previous, limitSetting: dropped.setting,
	}
}

// latency returns the latency that goals bound: end to end, or until the confirmation if there are no subscriptions.
func (b *bench) latency(t trial) hist.Snapshot {
	if b.spec.SubscriptionsPerTopic == 0 {
		return t.Histograms.Publish
	}
	return t.Histograms.EndToEnd
}

// latencyWithoutOwn returns lower bounds of the quantiles that this latency would have without the generator's own lag and pauses.
func (b *bench) latencyWithoutOwn(t trial) hist.Quantiles {
	h := t.Histograms
	if b.spec.SubscriptionsPerTopic == 0 {
		return t.ownDelay().Without(h.Publish, h.Service)
	}
	return t.ownDelay().Without(h.EndToEnd, h.EndToEndService)
}

// phaseSeconds returns the length of the measured phase, or of all of them (summedUp).
func (t trial) phaseSeconds() float64 {
	length := seconds(t.From, t.Until)
	for _, before := range t.before {
		length += before.phaseSeconds()
	}
	return length
}

// offeredRate returns the mean rate that was due in the measured phase; 0 if the phase is empty.
func (t trial) offeredRate() float64 { return perSecond(t.Measured.Due, t.phaseSeconds()) }

// sendingTime returns the seconds until the last message was sent, summed over all clients that sent: of 3 clients that
// sent for 10 s, it is 30. The drain is left out. It is never 0, so that callers may divide by it.
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
