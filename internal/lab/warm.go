package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/remark"
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
