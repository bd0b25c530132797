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
	wait := 20 * time.Millisecond
	for attempt := uint64(0); ; attempt++ {
		unseen := w.unprobed()
		if len(unseen) == 0 {
			return nil
		}
		for _, p := range unseen {
			if err := p.sendProbe(ctx, attempt); err != nil {
				return fmt.Errorf("producer %d: probe: %w", p.plan.ID, err)
			}
		}
		for again := time.After(wait); again != nil && len(w.unprobed()) > 0; {
			select {
			case <-w.broken.is:
				return w.broken.err
			case <-ctx.Done():
				return fmt.Errorf("%d of %d producers were not seen by every subscription within %s (the first is producer %d): %w",
					len(unseen), len(w.producers), w.plan.Connect, unseen[0].plan.ID, ctx.Err())
			case <-again:
				again = nil
			case <-time.After(2 * time.Millisecond):
			}
		}
		wait = min(2*wait, time.Second)
	}
}

func (w *Worker) unprobed() []*producer {
	var out []*producer
	for _, p := range w.producers {
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
