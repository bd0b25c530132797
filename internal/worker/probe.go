package worker

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/wire"
)

// probeBit marks the sequence numbers of probes, which no trial counts.
const probeBit = uint64(wire.MaxSeq+1) / 2

// probed holds which subscription has seen which producer. It is made before anything is connected, since a delivery may
// come at any moment.
type probed struct {
	subscriptions int
	seen          []atomic.Bool                    // by producer and subscription
	saw           func(producer, subscription int) // called once for each that our own consumers saw; may be nil
	made          func()                           // called when the topics are there; may be nil
}

func newProbed(producers, subscriptions int) *probed {
	return &probed{subscriptions: subscriptions, seen: make([]atomic.Bool, producers*subscriptions)}
}

// came notes a probe.
func (p *probed) came(producer, subscription int) {
	if !p.at(producer, subscription).Swap(true) && p.saw != nil {
		p.saw(producer, subscription)
	}
}

// at returns the flag of a producer and a subscription. Messages of other runs may name a producer that is not ours; its
// flag is nobody's.
func (p *probed) at(producer, subscription int) *atomic.Bool {
	if i := producer*p.subscriptions + subscription; i < len(p.seen) {
		return &p.seen[i]
	}
	return new(atomic.Bool)
}

// target is a client with its streams that some subscription has not seen yet.
type target struct {
	*producer
	unseen []*stream
}

// probe sends one message per producer, again and again, until every subscription has seen every producer. Trials begin
// only then: a broker may still be setting up routes when it has accepted all connections.
func (w *Worker) probe(ctx context.Context) error {
	var targets []target
	for _, p := range w.producers {
		t := target{producer: p}
		for i := range p.streams {
			t.unseen = append(t.unseen, &p.streams[i])
		}
		targets = append(targets, t)
	}
	wait := 20 * time.Millisecond
	for attempt := uint64(0); ; attempt++ {
		var missing int
		if targets, missing = w.unprobed(targets); missing == 0 {
			return nil
		}
		if err := eachAtOnce(ctx, targets, func(ctx context.Context, i int) error { return targets[i].probe(ctx, attempt) }); err != nil {
			return err
		}
		// The probes of a thousand producers take a while. To send them again too soon would only delay them.
		again := time.After(wait + time.Duration(missing)*perProbe)
		for waiting := true; waiting && missing > 0; targets, missing = w.unprobed(targets) {
			select {
			case <-w.broken.is:
				return w.broken.err
			case <-ctx.Done():
				return fmt.Errorf("%d of %d producers were not seen by every subscription within %s (the first is producer %d): %w",
					missing, len(w.plan.Producers), w.plan.Connect, targets[0].unseen[0].plan.ID, ctx.Err())
			case <-again:
				waiting = false
			case <-time.After(2 * time.Millisecond):
			}
		}
		wait = min(2*wait, time.Second)
	}
}

// perProbe is how much longer probe waits for each probe that is under way.
const perProbe = 200 * time.Microsecond

// unprobed returns the targets with streams that are still to be seen, and counts the streams. It reuses the list it is
// given.
func (w *Worker) unprobed(targets []target) (left []target, missing int) {
	left = targets[:0]
	for _, t := range targets {
		t.unseen = slices.DeleteFunc(t.unseen, w.seen)
		if len(t.unseen) > 0 {
			left = append(left, t)
			missing += len(t.unseen)
		}
	}
	return left, missing
}

// seen reports whether every subscription has seen s.
func (w *Worker) seen(s *stream) bool {
	for subscription := range w.plan.Topology.Subscriptions {
		if !w.probed.at(s.plan.ID, subscription).Load() {
			return false
		}
	}
	return true
}

// probe sends a probe for each of the target's streams, as far as there are slots: earlier probes may still hold some.
func (t target) probe(ctx context.Context, attempt uint64) error {
	for rest := t.unseen; len(rest) > 0; {
		n := t.freeSlots.take(t.batchSlots[:min(len(rest), len(t.batchSlots))])
		if n == 0 {
			break
		}
		now := clock.Now()
		for i, s := range rest[:n] {
			t.prepare(i, t.batchSlots[i], s, stamp{probeBit | attempt, now, now, 0}, nil)
		}
		if err := t.client.Send(ctx, t.batch[:n]); err != nil {
			return fmt.Errorf("producer %d: probe: %w", rest[0].plan.ID, err)
		}
		rest = rest[n:]
	}
	if err := t.client.Flush(ctx); err != nil {
		return fmt.Errorf("producer %d: probe: %w", t.unseen[0].plan.ID, err)
	}
	return nil
}
