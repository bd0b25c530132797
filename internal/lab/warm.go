package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/worker"
)

// A broker is warmed up at a first rate for a step, then at twice the rate as long as it keeps up.
const (
	warmStep      = 500 * time.Millisecond
	warmFirstRate = 1000.0 // messages per second
	warmFactor    = 2
)

// needsWarmup reports whether the spec asks for a warm-up of the broker, and the broker has had none. A shared broker is warmed up
// once. The caller notes in the pool that it has warmed it up.
func (b *bench) needsWarmup() bool {
	return b.spec.BrokerWarmup > 0 && !b.lab.pool.warmedUp[b.broker.instance]
}

// warmBroker drives a broker that was started here for as long as the spec's brokerWarmup says, and counts none of the messages: the
// broker's code is compiled while it runs, and its caches are empty at first. The rate rises as long as the broker keeps up. If it
// does not, the rate falls to what came through, so that nothing piles up.
func (b *bench) warmBroker(ctx context.Context) error {
	if !b.needsWarmup() {
		return nil
	}
	end := clock.Now() + int64(b.spec.BrokerWarmup)
	rate := warmFirstRate
	for now := clock.Now(); now < end; now = clock.Now() {
		arrivals, err := b.arrivals(rate)
		if err != nil {
			return err
		}
		t := b.runTrial(ctx, "warming up "+b.spec.Broker, rate, worker.Load{
			Schedule: arrivals, Duration: min(warmStep, time.Duration(end-now)), Drain: time.Duration(b.spec.Drain), Settle: settle, Brisk: true,
		})
		if t.Err != nil {
			return t.Err
		}
		if through := b.throughput(t); through < keptUpShare*rate {
			rate = max(through, 1)
		} else {
			rate *= warmFactor
		}
	}
	b.lab.pool.warmedUp[b.broker.instance] = true
	return nil
}

// maxWarmupRides is more than a warm-up ever posts: time ends it. The runner allocates a byte for each.
const maxWarmupRides = 20_000_000

// warmPipeline is warmBroker for a point with a pipeline. It starts all parts, on a topic of their own, posts rides as fast as the
// client's threads can, and takes the parts down again. So nothing of it is measured.
func (b *bench) warmPipeline(ctx context.Context) (err error) {
	if !b.needsWarmup() {
		return nil
	}
	p := &pipeline{bench: b}
	defer func() { p.close(err) }()
	if err := p.start(ctx); err != nil {
		return err
	}
	l, err := p.load()
	if err != nil {
		return err
	}
	l.Schedule, l.Phases = nil, []load.Phase{{Threads: l.Threads, Total: maxWarmupRides}}
	r, err := load.NewRunner(l)
	if err != nil {
		return err
	}
	b.announce("warming up " + b.spec.Broker)
	guarded, unguard := b.guard(ctx, p.parts()...)
	defer func() { _ = unguard() }()
	limited, cancel := context.WithTimeout(guarded, time.Duration(b.spec.BrokerWarmup))
	defer cancel()
	o := r.Run(limited)
	if guarded.Err() != nil { // a part died, or the run was interrupted
		return context.Cause(guarded)
	}
	if o.Accepted == 0 {
		return fmt.Errorf("no ride was accepted while the broker was being warmed up%s", because(o.Err))
	}
	b.lab.pool.warmedUp[b.broker.instance] = true
	return nil
}
