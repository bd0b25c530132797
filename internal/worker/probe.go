package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/wire"
)

// A broker may accept connections before it has set up all routes, and lose what is sent meanwhile. Therefore producers send
// probes, which no trial counts, until every subscription has received one of every producer. With 3 producers and 2
// subscriptions these are 6 pairs. Only then may a trial begin.

// probeBit is the highest bit of a sequence number. It marks probes: the messages of trials are never as many.
const probeBit = uint64(wire.MaxSeq+1) / 2

// Probes are sent again after firstProbeWait, then after twice as long, and so on up to maxProbeWait. For each probe under way,
// perProbe is added: probes that are sent again too soon only delay the others.
const (
	firstProbeWait = 20 * time.Millisecond
	maxProbeWait   = time.Second
	perProbe       = 200 * time.Microsecond
)

// Probes records which subscription has seen a probe of which producer. Any goroutine may use it, from before the first consumer
// is connected: a delivery may come at any moment.
//
// Workers that share streams have to know which probes the consumers of the others have seen: OnSeen of one calls Seen of the
// others. The hooks may be nil, and are set before the worker is prepared.
type Probes struct {
	// OnSeen is called once for every producer and subscription of which the worker's own consumers have seen a probe. Any
	// goroutine calls it, and it must not block.
	OnSeen func(producer, subscription int)
	// OnTopicsMade is called when the worker has made the topics, which one worker does for all that share streams.
	OnTopicsMade func()

	subscriptions int
	// seen has a place for each pair of a producer and a subscription. With 3 producers and 2 subscriptions, that of producer 2
	// and subscription 1 is 2·2 + 1 = 5.
	seen []atomic.Bool
}

// NewProbes makes the Probes of one worker. producers is one past the largest ID of a producer.
func NewProbes(producers, subscriptions int) *Probes {
	return &Probes{subscriptions: subscriptions, seen: make([]atomic.Bool, producers*subscriptions)}
}

// newProbes makes the Probes of a plan whose worker shares no streams.
func (p *Plan) newProbes() *Probes {
	return NewProbes(p.producerIDs(), len(p.Topology.Subscriptions))
}

// Seen notes that another worker's consumers have seen a probe. It may be called at any time.
func (p *Probes) Seen(producer, subscription int) { p.mark(p.index(producer, subscription)) }

// receive notes a probe that a consumer of this process has seen.
func (p *Probes) receive(producer, subscription int) {
	if p.mark(p.index(producer, subscription)) && p.OnSeen != nil {
		p.OnSeen(producer, subscription)
	}
}

// index returns the place in seen of a producer and a subscription, or -1 if the plan does not have them: messages of other runs
// may name any producer.
func (p *Probes) index(producer, subscription int) int {
	knownSubscription := subscription >= 0 && subscription < p.subscriptions
	if !knownSubscription || producer < 0 || producer >= len(p.seen)/p.subscriptions {
		return -1
	}
	return producer*p.subscriptions + subscription
}

// mark notes that the pair at a place of seen has met, and reports whether that is new. It ignores a place that does not exist.
func (p *Probes) mark(place int) (isNew bool) {
	exists := place >= 0 && place < len(p.seen)
	return exists && !p.seen[place].Swap(true)
}

// seenByAll reports whether every subscription has seen a probe of a producer.
func (p *Probes) seenByAll(producer int) bool {
	for subscription := range p.subscriptions {
		if !p.seen[p.index(producer, subscription)].Load() {
			return false
		}
	}
	return true
}

// unseenStreams are the streams of one client, at least one, whose probes some subscription has not seen yet.
type unseenStreams struct {
	client  *client
	streams []*stream
}

// unseen lists the unseen streams of all clients, and returns how many there are.
func (w *Worker) unseen() (all []unseenStreams, count int) {
	for _, c := range w.clients {
		u := unseenStreams{client: c}
		for i := range c.streams {
			if s := &c.streams[i]; !w.probes.seenByAll(s.producer.ID) {
				u.streams = append(u.streams, s)
			}
		}
		if len(u.streams) > 0 {
			all = append(all, u)
			count += len(u.streams)
		}
	}
	return all, count
}

// first returns the ID of the first producer that was not seen.
func (u *unseenStreams) first() int { return u.streams[0].producer.ID }

// probe sends probes until every subscription has seen every producer. It returns an error as soon as the broker says why that
// won't happen.
func (w *Worker) probe(ctx context.Context) error {
	probing, end := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { w.watchProbes(probing, end) })
	err := w.sendProbes(probing)
	objection, objected := errors.AsType[errObjection](context.Cause(probing))
	end(nil)
	watching.Wait()
	unseen, count := w.unseen()
	switch {
	case err == nil || count == 0:
		return err
	case objected:
		return objection
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		return fmt.Errorf("%s: %w%s", w.unseenText(unseen, w.plan.Connect), ctx.Err(), unseen[0].client.objections.last())
	}
	return err
}

// sendProbes sends probes until every subscription has seen every producer, or nothing can come any more.
func (w *Worker) sendProbes(ctx context.Context) error {
	wait := firstProbeWait
	for attempt := uint64(0); ; attempt++ {
		unseen, count := w.unseen()
		if count == 0 {
			return nil
		}
		err := eachAtOnce(ctx, len(unseen), func(ctx context.Context, i int) error { return unseen[i].send(ctx, attempt) })
		if err != nil {
			return err
		}
		if err := w.awaitProbes(ctx, wait+time.Duration(count)*perProbe); err != nil {
			return err
		}
		wait = min(2*wait, maxProbeWait)
	}
}

// awaitProbes blocks until every subscription has seen every producer, but no longer than most. It returns an error if nothing
// can come any more.
func (w *Worker) awaitProbes(ctx context.Context, most time.Duration) error {
	for began := time.Now(); time.Since(began) < most; {
		if _, count := w.unseen(); count == 0 {
			return nil
		}
		if err := w.wait(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// send sends a probe for each stream. Earlier probes may still occupy slots of the client; if none is free, the remaining streams
// wait for the next attempt.
func (u unseenStreams) send(ctx context.Context, attempt uint64) error {
	c := u.client
	for rest := u.streams; len(rest) > 0; {
		n := c.freeSlots.take(c.batchSlots[:min(len(rest), len(c.batchSlots))])
		if n == 0 {
			break
		}
		now := clock.Now()
		for i, s := range rest[:n] {
			c.fillSlot(i, c.batchSlots[i], s, stamp{seq: probeBit | attempt, intended: now, sent: now}, nil)
		}
		if err := c.conn.Send(ctx, c.batch[:n]); err != nil {
			return fmt.Errorf("producer %d: probe: %w", rest[0].producer.ID, err)
		}
		rest = rest[n:]
	}
	if err := c.conn.Flush(ctx); err != nil {
		return fmt.Errorf("producer %d: probe: %w", u.streams[0].producer.ID, err)
	}
	return nil
}
