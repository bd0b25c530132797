package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/load"
)

// mostWarming is more requests than a warm-up ever comes to.
const mostWarming = 20_000_000

// warmPipeline drives a broker that was started here for as long as the spec says, once, by the pipeline's own load: rides that its
// threads post one after the other, to a server that publishes them on a topic of their own. Its parts are taken down again, so
// nothing of it is in what is measured.
func (b *bench) warmPipeline(ctx context.Context, c driver.Config) error {
	warm := b.lab.pool.warm
	if b.spec.BrokerWarmup == 0 || warm[b.instance] {
		return nil
	}
	p := &pipeline{bench: b}
	defer p.close()
	if err := p.start(ctx, c); err != nil {
		return err
	}
	l, _, err := p.load()
	if err != nil {
		return err
	}
	l.Schedule, l.Phases = nil, []load.Phase{{Threads: l.Threads, Total: mostWarming}}
	r, err := load.NewRunner(l)
	if err != nil {
		return err
	}
	b.stage(Event{Kind: Staged, Stage: "warming up " + b.spec.Broker})
	ctx, unguard := b.guard(ctx)
	defer unguard()
	ctx, unguarded := p.guard(ctx)
	defer unguarded()
	limited, cancel := context.WithTimeout(ctx, time.Duration(b.spec.BrokerWarmup))
	defer cancel()
	o := r.Run(limited)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if o.Accepted == 0 {
		return fmt.Errorf("none of the rides that were to warm the broker up was accepted%s", because(o.Err))
	}
	warm[b.instance] = true
	return nil
}
