package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// A broker that was just started is slow: its code is compiled while it runs, and its caches are empty. So it is driven before
// anything is measured on it, for as long as the spec's brokerWarmup says, and none of these messages is counted.

// warmUpOnce calls warm if the spec asks for a warm-up of the broker and the broker has had none, as a broker that points share may have.
// Only brokers that were started here are warmed up: a spec with any other can't ask for it.
func (b *bench) warmUpOnce(ctx context.Context, warm func(context.Context) error) error {
	warmedUp := b.lab.pool.warmedUp
	if b.spec.BrokerWarmup == 0 || warmedUp[b.broker.instance] {
		return nil
	}
	if err := warm(ctx); err != nil {
		return err
	}
	warmedUp[b.broker.instance] = true
	return nil
}

// A broker is warmed up at a first rate for a step, then at twice the rate as long as it keeps up: 1,000/s, 2,000/s, 4,000/s, and so on.
const (
	warmStep      = 500 * time.Millisecond
	warmFirstRate = 1000.0 // messages per second
	warmFactor    = 2
)

// warmBroker warms up the broker with the clients that are connected. The rate rises as long as the broker keeps up. If it does not, the
// rate falls to what came through, so that nothing piles up. After each step it waits for messages that are still under way (Settle).
func (b *bench) warmBroker(ctx context.Context) error {
	end := clock.Now() + int64(b.spec.BrokerWarmup)
	rate := warmFirstRate
	for now := clock.Now(); now < end; now = clock.Now() {
		arrivals, err := b.arrivals(rate, 0)
		if err != nil {
			return err
		}
		t := b.runTrial(ctx, "warming up "+b.spec.Broker, rate, worker.Load{
			Schedule: arrivals, Duration: min(warmStep, time.Duration(end-now)), Drain: time.Duration(b.spec.Drain), Settle: settle, Brisk: true,
		})
		if t.Err != nil {
			return t.Err
		}
		if through := b.throughputWhileSending(t); through < keptUpShare*rate {
			rate = max(through, 1)
		} else {
			rate *= warmFactor
		}
	}
	return nil
}

// warmPipeline is warmBroker for a point with a pipeline. It starts all parts, on a topic of their own, posts rides as fast as the
// client's threads can, and takes the parts down again.
func (b *bench) warmPipeline(ctx context.Context) error {
	p := &pipeline{bench: b}
	err := p.warm(ctx)
	p.close(err)
	return err
}

// warm starts all parts and posts rides until the time of the warm-up is over.
func (p *pipeline) warm(ctx context.Context) error {
	b := p.bench
	if err := p.start(ctx); err != nil {
		return err
	}
	l, err := p.clientLoad()
	if err != nil {
		return err
	}
	const endless = 20_000_000 // rides, more than a warm-up ever posts: its time ends first. The runner allocates a byte for each.
	l.Schedule, l.Phases = nil, []load.Phase{{Threads: l.Threads, Total: endless}}
	r, err := load.NewRunner(l)
	if err != nil {
		return err
	}
	b.announce("warming up " + b.spec.Broker)
	guarded, unguard := b.guard(ctx, p.startedParts()...)
	defer func() { _ = unguard() }() // a death ends guarded, too
	limited, cancel := context.WithTimeout(guarded, time.Duration(b.spec.BrokerWarmup))
	defer cancel()
	o := r.Run(limited)
	if guarded.Err() != nil { // a part died, or the run was interrupted
		return context.Cause(guarded)
	}
	if o.Accepted == 0 {
		return fmt.Errorf("no ride was accepted while the broker was being warmed up%s", remark.Because(o.Err))
	}
	return nil
}

// A broker whose code is compiled while it runs costs less with every message until that is done. Its figures then belong to no steady
// state: Kafka on three nodes used 23 s of the processor per million messages at the beginning of its first measurement, 4 s five seconds
// later, and 1 s in its fourth.

const (
	// warmingFactor is the ratio of a message's cost in the first third of the measured phase to that in the last, from which the
	// broker counts as still warming up. Of 30 peaks of Kafka 14 had 0.49 to 1.05, and 16 had 1.46 to 6.03; 22 measurements of brokers
	// that compile nothing had 0.94 to 1.23.
	warmingFactor = 1.3
	// leastWarming is the least processor time that the first third must have cost more. A smaller difference may be chance.
	leastWarming = 100 * time.Millisecond
	// leastTicks is the least number of ticks in a third.
	leastTicks = 3
	// leastDriven is the length of a phase with leastTicks in each third. A brokerWarmup as long serves as well.
	leastDriven = 3 * leastTicks * tickEvery
)

// doubtWarming adds a doubt if the broker was still warming up in the measured phase, or if nothing tells whether it was: the phase was too
// short, and the broker had not been driven for as long before anything was measured (brokerWarmup). It adds none if the load changes on
// purpose, as the cost of a message changes then as well.
func (b *bench) doubtWarming(t trial, d *doubts) {
	if changing(b.spec.Load) || len(b.spec.Faults) > 0 || b.spec.Measure == study.MeasureBacklog {
		return
	}
	var phase []store.Tick
	for _, tick := range t.Series {
		if tick.Phase == "measure" {
			phase = append(phase, tick)
		}
	}
	third := len(phase) / 3
	if third < leastTicks {
		if t.Cost.BrokerKnown && t.Cost.Messages > 0 && time.Duration(b.spec.BrokerWarmup) < leastDriven {
			length := time.Duration(t.phaseSeconds() * float64(time.Second))
			d.add(doubt.WarmupUnknown, "%s of measuring are too short to tell whether the broker was still warming up", length.Round(time.Millisecond))
		}
		return
	}
	first, last := processorUseIn(phase[:third]), processorUseIn(phase[len(phase)-third:])
	if first.perMessage == 0 || last.perMessage == 0 || first.perMessage < warmingFactor*last.perMessage {
		return
	}
	used := first.cores * t.phaseSeconds() / 3            // in the first third, seconds of the processor
	more := used * (1 - last.perMessage/first.perMessage) // than the same messages would have cost in the last third
	if more < leastWarming.Seconds() {
		return
	}
	d.add(doubt.WarmingUp, "a million messages cost the broker %s of the processor in the first third of the measured phase, "+
		"when it used %.1f cores, and %s in the last, when it used %.1f: it was still warming up",
		perMillion(first.perMessage), first.cores, perMillion(last.perMessage), last.cores)
}

// processorUse is what the broker used of the processor over some time.
type processorUse struct {
	perMessage float64 // seconds; 0 if nothing was published
	cores      float64
}

// processorUseIn returns what the broker used over ticks of equal length. For example, 0.5 cores at 1,000 messages/s are 0.5 ms for each.
func processorUseIn(ticks []store.Tick) processorUse {
	var used, published float64
	for _, tick := range ticks {
		used += tick.BrokerCPU
		published += tick.PublishRate
	}
	use := processorUse{cores: used / float64(len(ticks))}
	if published > 0 {
		use.perMessage = used / published
	}
	return use
}

// perMillion is the time that a million messages cost if one costs that many seconds.
func perMillion(cost float64) time.Duration {
	return time.Duration(cost * 1e6 * float64(time.Second)).Round(10 * time.Millisecond)
}
