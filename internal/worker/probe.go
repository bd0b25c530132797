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

// probed records which subscription has seen a probe of which producer. It is made before anything is connected, since a delivery may
// come at any moment.
type probed struct {
	subscriptions int
	seen          []atomic.Bool                    // at producer × subscriptions + subscription
	saw           func(producer, subscription int) // called once for each probe that consumers of this process see; may be nil
	made          func()                           // called when the topics have been made; may be nil
}

func newProbed(producers, subscriptions int) *probed {
	return &probed{subscriptions: subscriptions, seen: make([]atomic.Bool, producers*subscriptions)}
}

// receive notes a probe that a consumer of this process has seen.
func (p *probed) receive(producer, subscription int) {
	if p.mark(producer, subscription) && p.saw != nil {
		p.saw(producer, subscription)
	}
}

// mark notes that a subscription has seen a producer, and reports whether that is new. It ignores producers that the trial doesn't
// have: messages of other runs may name any.
func (p *probed) mark(producer, subscription int) bool {
	i := producer*p.subscriptions + subscription
	return i < len(p.seen) && !p.seen[i].Swap(true)
}

// byAll reports whether every subscription has seen a producer.
func (p *probed) byAll(producer int) bool {
	for i := range p.subscriptions {
		if !p.seen[producer*p.subscriptions+i].Load() {
			return false
		}
	}
	return true
}

// target is a client with those of its streams that some subscription has not seen yet.
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
		// Probes that are sent again too soon only delay those under way.
		var err error
		if targets, err = w.awaitProbes(ctx, targets, wait+time.Duration(missing)*perProbe); err != nil {
			return err
		}
		wait = min(2*wait, time.Second)
	}
}

// perProbe is how much longer probe waits for each probe that is under way.
const perProbe = 200 * time.Microsecond

// awaitProbes blocks until every subscription has seen the targets, but no longer than allowance. It returns the targets that are left,
// or an error if nothing can come any more. It overwrites targets.
func (w *Worker) awaitProbes(ctx context.Context, targets []target, allowance time.Duration) ([]target, error) {
	over := time.After(allowance)
	for {
		var missing int
		if targets, missing = w.unprobed(targets); missing == 0 {
			return nil, nil
		}
		select {
		case <-w.broken.is:
			return nil, w.broken.err
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d producers were not seen by every subscription within %s (the first is producer %d): %w",
				missing, len(w.plan.Producers), w.plan.Connect, targets[0].unseen[0].plan.ID, ctx.Err())
		case <-over:
			return targets, nil
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// unprobed returns the targets with streams that some subscription has not seen yet, and the number of these streams. It overwrites
// targets.
func (w *Worker) unprobed(targets []target) (left []target, missing int) {
	left = targets[:0]
	for _, t := range targets {
		t.unseen = slices.DeleteFunc(t.unseen, func(s *stream) bool { return w.probed.byAll(s.plan.ID) })
		if len(t.unseen) > 0 {
			left = append(left, t)
			missing += len(t.unseen)
		}
	}
	return left, missing
}

// probe sends a probe for each of the target's streams, as far as there are free slots: earlier probes may still hold some.
func (t target) probe(ctx context.Context, attempt uint64) error {
	for rest := t.unseen; len(rest) > 0; {
		n := t.freeSlots.take(t.batchSlots[:min(len(rest), len(t.batchSlots))])
		if n == 0 {
			break
		}
		now := clock.Now()
		for i, s := range rest[:n] {
			t.prepare(i, t.batchSlots[i], s, stamp{seq: probeBit | attempt, intended: now, sent: now}, nil)
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
