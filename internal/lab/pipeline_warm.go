package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/load"
)

// maxWarmupRides is more than a warm-up ever posts: time ends it. The runner allocates a byte for each.
const maxWarmupRides = 20_000_000

// warmPipeline warms up a broker that was started here, once, for as long as the spec says. It starts all parts of the pipeline,
// on a topic of their own, posts rides as fast as its threads can, and takes the parts down again. So nothing of it is measured.
func (b *bench) warmPipeline(ctx context.Context) error {
	warmed := b.lab.pool.warm
	if b.spec.BrokerWarmup == 0 || warmed[b.instance] {
		return nil
	}
	p := &pipeline{bench: b}
	defer p.close()
	if err := p.start(ctx); err != nil {
		return err
	}
	l, _, err := p.load()
	if err != nil {
		return err
	}
	l.Schedule, l.Phases = nil, []load.Phase{{Threads: l.Threads, Total: maxWarmupRides}}
	r, err := load.NewRunner(l)
	if err != nil {
		return err
	}
	b.stage(Event{Kind: Staged, Stage: "warming up " + b.spec.Broker})
	ctx, unguard := p.guardAll(ctx)
	defer unguard()
	limited, cancel := context.WithTimeout(ctx, time.Duration(b.spec.BrokerWarmup))
	defer cancel()
	o := r.Run(limited)
	if ctx.Err() != nil { // not limited: a part died, or the run was interrupted
		return context.Cause(ctx)
	}
	if o.Accepted == 0 {
		return fmt.Errorf("no ride was accepted while the broker was being warmed up%s", because(o.Err))
	}
	warmed[b.instance] = true
	return nil
}
