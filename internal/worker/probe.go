package worker

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/wire"
)

// probeBit marks the sequence numbers of probes, which no trial counts.
const probeBit = uint64(wire.MaxSeq+1) / 2

// probed is which subscription has seen which producer. It is made before anything is connected, since a delivery
// may come at any moment.
type probed struct {
	subscriptions int
	seen          []atomic.Bool
}

func newProbed(p Plan) *probed {
	top := 0
	for _, pr := range p.Producers {
		top = max(top, pr.ID+1)
	}
	n := len(p.Topology.Subscriptions)
	return &probed{n, make([]atomic.Bool, top*n)}
}

func (p *probed) at(producer, subscription int) *atomic.Bool {
	if i := producer*p.subscriptions + subscription; i < len(p.seen) {
		return &p.seen[i]
	}
	return new(atomic.Bool)
}

// probe sends one message per producer, again and again, until each subscription of its topic has seen it.
func (w *Worker) probe(ctx context.Context) error {
	unseen := w.producers
	wait := 20 * time.Millisecond
	for attempt := uint64(0); ; attempt++ {
		if unseen = w.unprobed(unseen); len(unseen) == 0 {
			return nil
		}
		err := eachAtOnce(ctx, unseen, func(ctx context.Context, i int) error {
			if err := unseen[i].sendProbe(ctx, attempt); err != nil {
				return fmt.Errorf("producer %d: probe: %w", unseen[i].plan.ID, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		// The probes of a thousand producers take a while: sent again too soon they would only take longer.
		again := time.After(wait + time.Duration(len(unseen))*perProbe)
		for waiting := true; waiting && len(unseen) > 0; unseen = w.unprobed(unseen) {
			select {
			case <-w.broken.is:
				return w.broken.err
			case <-ctx.Done():
				return fmt.Errorf("%d of %d producers were not seen by every subscription within %s (the first is producer %d): %w",
					len(unseen), len(w.producers), w.plan.Connect, unseen[0].plan.ID, ctx.Err())
			case <-again:
				waiting = false
			case <-time.After(2 * time.Millisecond):
			}
		}
		wait = min(2*wait, time.Second)
	}
}

// perProbe is how much longer it is waited for each probe that is under way.
const perProbe = 200 * time.Microsecond

// unprobed are those of producers that some subscription hasn't seen yet.
func (w *Worker) unprobed(producers []*producer) []*producer {
	var out []*producer
	for _, p := range producers {
		for s := range w.plan.Topology.Subscriptions {
			if !w.probed.at(p.plan.ID, s).Load() {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

func (p *producer) sendProbe(ctx context.Context, attempt uint64) error {
	if p.slots.take(p.taken[:1]) == 0 {
		return nil // all earlier probes are still on their way
	}
	now := clock.Now()
	p.message(0, p.taken[0], stamp{probeBit | attempt, now, now, 0}, nil)
	if err := p.client.Send(ctx, p.batch[:1]); err != nil {
		return err
	}
	return p.client.Flush(ctx)
}
