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

// A broker may still be setting up routes when it has accepted all connections, and lose messages meanwhile. Therefore each producer
// sends probes, again and again, until every subscription has seen one of each producer. Trials begin only then.

// probeBit marks the sequence numbers of probes, which no trial counts.
const probeBit = uint64(wire.MaxSeq+1) / 2

// Probes are sent again after firstProbeWait, then after twice as long, and so on up to maxProbeWait. For each probe under way, perProbe
// is added: probes that are sent again too soon only delay the others.
const (
	firstProbeWait = 20 * time.Millisecond
	maxProbeWait   = time.Second
	perProbe       = 200 * time.Microsecond
)

// probesSeen records which subscription has seen a probe of which producer. Any goroutine may use it, from before the first consumer is
// connected: a delivery may come at any moment.
type probesSeen struct {
	subscriptions int
	seen          []atomic.Bool                    // at producer × subscriptions + subscription
	onSeen        func(producer, subscription int) // called once for each that consumers of this process see; may be nil
	onTopicsMade  func()                           // called when the worker has made the topics; may be nil
}

func newProbesSeen(producers, subscriptions int) *probesSeen {
	return &probesSeen{subscriptions: subscriptions, seen: make([]atomic.Bool, producers*subscriptions)}
}

// receive notes a probe that a consumer of this process has seen.
func (p *probesSeen) receive(producer, subscription int) {
	if p.mark(producer, subscription) && p.onSeen != nil {
		p.onSeen(producer, subscription)
	}
}

// mark notes that a subscription has seen a producer, and reports whether that is new. It ignores producers that the trial doesn't
// have: messages of other runs may name any.
func (p *probesSeen) mark(producer, subscription int) bool {
	i := producer*p.subscriptions + subscription
	return i < len(p.seen) && !p.seen[i].Swap(true)
}

// byAll reports whether every subscription has seen a producer.
func (p *probesSeen) byAll(producer int) bool {
	for i := range p.subscriptions {
		if !p.seen[producer*p.subscriptions+i].Load() {
			return false
		}
	}
	return true
}

// unseen is those streams of one client that some subscription has not seen yet.
type unseen struct {
	*producer
	streams []*stream
}

// probe sends probes until every subscription has seen every producer.
func (w *Worker) probe(ctx context.Context) error {
	var left []unseen
	for _, p := range w.producers {
		u := unseen{producer: p}
		for i := range p.streams {
			u.streams = append(u.streams, &p.streams[i])
		}
		left = append(left, u)
	}
	wait := firstProbeWait
	for attempt := uint64(0); ; attempt++ {
		left = w.dropSeen(left)
		if len(left) == 0 {
			return nil
		}
		err := eachAtOnce(ctx, left, func(ctx context.Context, i int) error { return left[i].probe(ctx, attempt) })
		if err != nil {
			return err
		}
		if left, err = w.awaitProbes(ctx, left, wait); err != nil {
			return err
		}
		wait = min(2*wait, maxProbeWait)
	}
}

// awaitProbes blocks until every subscription has seen these streams, but no longer than wait and perProbe for each of them. It returns
// those that are left, or an error if nothing can come any more. It overwrites its argument.
func (w *Worker) awaitProbes(ctx context.Context, left []unseen, wait time.Duration) ([]unseen, error) {
	for _, u := range left {
		wait += time.Duration(len(u.streams)) * perProbe
	}
	over := time.After(wait)
	for {
		left = w.dropSeen(left)
		if len(left) == 0 {
			return nil, nil
		}
		select {
		case <-w.failure.happened:
			return nil, w.failure.err
		case <-ctx.Done():
			missing := 0
			for _, u := range left {
				missing += len(u.streams)
			}
			return nil, fmt.Errorf("%d of %d producers were not seen by every subscription within %s (the first is producer %d): %w",
				missing, len(w.plan.Producers), w.plan.Connect, left[0].streams[0].plan.ID, ctx.Err())
		case <-over:
			return left, nil
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// dropSeen returns what is left of its argument without the streams that every subscription has seen. It overwrites the argument.
func (w *Worker) dropSeen(all []unseen) []unseen {
	left := all[:0]
	for _, u := range all {
		u.streams = slices.DeleteFunc(u.streams, func(s *stream) bool { return w.probed.byAll(s.plan.ID) })
		if len(u.streams) > 0 {
			left = append(left, u)
		}
	}
	return left
}

// probe sends a probe for each of the client's streams that are left, as far as there are free slots: earlier probes may still hold some.
func (u unseen) probe(ctx context.Context, attempt uint64) error {
	for rest := u.streams; len(rest) > 0; {
		n := u.freeSlots.take(u.batchSlots[:min(len(rest), len(u.batchSlots))])
		if n == 0 {
			break
		}
		now := clock.Now()
		for i, s := range rest[:n] {
			u.prepare(i, u.batchSlots[i], s, stamp{seq: probeBit | attempt, intended: now, sent: now}, nil)
		}
		if err := u.client.Send(ctx, u.batch[:n]); err != nil {
			return fmt.Errorf("producer %d: probe: %w", rest[0].plan.ID, err)
		}
		rest = rest[n:]
	}
	if err := u.client.Flush(ctx); err != nil {
		return fmt.Errorf("producer %d: probe: %w", u.streams[0].plan.ID, err)
	}
	return nil
}
