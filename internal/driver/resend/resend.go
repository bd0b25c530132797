// Package resend makes producers survive a broker's restart: it sends messages again that a lost connection has left without an outcome.
// It knows nothing of protocols and reconnecting; the driver marks the messages that may be sent again with driver.ErrDisconnected.
package resend

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	// pause is the time from a failure to the next attempt. It collects the failures of one cut, and limits attempts on a
	// starting broker to a few per second. If a message was not answered on a living connection (driver.ErrUnanswered), the pause
	// doubles each time, up to mostPause: a slow broker must not be flooded.
	pause     = 50 * time.Millisecond
	mostPause = 5 * time.Second
	// most is the largest number of messages in one Send of an attempt.
	most = 256
	// look is the interval for checking whether all messages in flight have an outcome.
	look = time.Millisecond
)

// producer passes messages on and remembers them until their outcome is known. While messages wait to be sent again, new messages
// wait behind them, so that the order is kept:
//
//	Send ──(turn)──> inner ──> Done ── outcome ──> receipts
//	                   ^         └─ ErrDisconnected ─> failed ─┐
//	                   └────────(turn)──── run <───────────────┘
type producer struct {
	inner    driver.Producer
	receipts driver.Receipts
	resends  driver.Resends // nil: the receipts don't implement it
	ordered  bool
	table    []sent // by slot
	next     uint64 // sequence number of the next message; used by the caller's goroutine only

	// turn is held by the user of inner: the caller for a batch, or run for an attempt, and run only while cut is set.
	turn  sync.Mutex
	cut   atomic.Bool // failed messages have to be sent again first; changed under mu
	given int64       // messages given to inner, each counted as often as it was sent; under turn

	mu     sync.Mutex
	failed []uint32
	last   error         // latest error of the messages in failed
	over   chan struct{} // closed when cut is reset
	closed bool

	wake    chan struct{} // holds one wake-up
	early   chan struct{} // likewise; ends a pause because the broker has answered
	ended   chan struct{}
	running context.Context //nolint:containedctx // ends with the producer, not with a call
	stop    context.CancelFunc

	_       [64]byte     // keeps settled off the cache line of the fields that Send writes
	settled atomic.Int64 // how many of given have come back through Done
}

// sent is the message in a slot. It is copied field by field, which is half the cost of copying it as a whole.
type sent struct {
	topic        int
	key, payload []byte
	headers      *driver.Headers
	order        uint64
	unanswered   int // number of ErrUnanswered; under mu
}

// Producer makes a producer around the one that open returns; open gets the receipts to report to. Unless g is at-most-once, messages that
// the inner producer completes with driver.ErrDisconnected are sent again, in the order of sending, until they are acknowledged or
// refused, or until Close; only then does r receive the outcome of the slot. Exactly-once also needs a driver that heeds Message.Resent.
//
// If g is ordered, nothing is sent again while any message is without an outcome: a broker that has accepted the second of two
// messages may still refuse the first, which would then be sent behind it. After a cut, a single message is sent first, until it
// is acknowledged: a starting broker may refuse the first of two messages and accept the second.
//
// Send blocks, as on back-pressure, while messages wait to be sent again.
func Producer(g driver.Guarantee, c driver.ProducerConfig, r driver.Receipts, open func(driver.Receipts) (driver.Producer, error)) (driver.Producer, error) {
	if g.Delivery == driver.AtMostOnce {
		return open(r)
	}
	p := newProducer(c.InFlight, r)
	p.ordered = g.Ordering == driver.Ordered
	var err error
	if p.inner, err = open(p); err != nil {
		return nil, err
	}
	go p.run()
	return p, nil
}

func newProducer(slots int, r driver.Receipts) *producer {
	p := &producer{
		receipts: r, table: make([]sent, slots), failed: make([]uint32, 0, slots),
		wake: make(chan struct{}, 1), early: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	p.resends, _ = r.(driver.Resends)
	p.running, p.stop = context.WithCancel(context.Background())
	return p
}

// Send implements driver.Producer. A lost connection is no error here: the batch will be sent again.
func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	for i := range batch {
		m := &batch[i]
		s := &p.table[m.Slot]
		s.topic, s.key, s.payload, s.headers, s.order, s.unanswered = m.Topic, m.Key, m.Payload, m.Headers, p.next, 0
		p.next++
	}
	if err := p.enter(ctx); err != nil {
		driver.Fail(p.receipts, batch, err)
		return err
	}
	p.given += int64(len(batch))
	err := p.inner.Send(ctx, batch)
	p.turn.Unlock()
	if errors.Is(err, driver.ErrDisconnected) {
		return nil
	}
	return err
}

// enter takes the turn as soon as no message waits to be sent again.
func (p *producer) enter(ctx context.Context) error {
	for {
		if p.turn.TryLock() { // otherwise run has it
			if !p.cut.Load() {
				return nil
			}
			p.turn.Unlock()
		}
		p.mu.Lock()
		over := p.over
		p.mu.Unlock()
		select {
		case <-over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Flush implements driver.Producer; attempts flush by themselves.
func (p *producer) Flush(ctx context.Context) error {
	if !p.turn.TryLock() {
		return nil
	}
	defer p.turn.Unlock()
	return p.inner.Flush(ctx)
}

// Close implements driver.Producer: messages that wait to be sent again fail.
func (p *producer) Close() error {
	p.stop()
	<-p.ended
	p.mu.Lock()
	p.closed = true
	failed := p.failed
	p.failed = nil
	p.mu.Unlock()
	if len(failed) > 0 {
		p.receipts.Done(failed, p.last)
	}
	return p.inner.Close()
}

// Done implements driver.Receipts for inner.
func (p *producer) Done(slots []uint32, err error) {
	if err == nil || !errors.Is(err, driver.ErrDisconnected) || !p.keep(slots, err) {
		p.settled.Add(int64(len(slots)))
		p.receipts.Done(slots, err)
		return
	}
	p.settled.Add(int64(len(slots))) // after keep: a reader that sees all settled also sees all that failed
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Refused implements driver.Objections for inner.
func (p *producer) Refused(err error) { driver.Refuse(p.receipts, err) }

// Held implements driver.Objections for inner.
func (p *producer) Held(why string) { driver.Hold(p.receipts, why) }

func (p *producer) keep(slots []uint32, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.failed, p.last = append(p.failed, slots...), err
	if errors.Is(err, driver.ErrUnanswered) {
		for _, slot := range slots {
			p.table[slot].unanswered++
		}
	}
	if !p.cut.Load() {
		p.over = make(chan struct{})
		p.cut.Store(true)
	}
	return true
}

// Late reports an acknowledgement that came after the slot was completed with driver.ErrUnanswered. It returns whether the
// message was waiting to be sent again; it is then not sent. Late calls still first, under the lock, to check that the
// acknowledgement is for this message.
func (p *producer) Late(slot uint32, still func() bool) bool {
	p.mu.Lock()
	i := slices.Index(p.failed, slot)
	if i < 0 || !still() {
		p.mu.Unlock()
		return false
	}
	p.failed = slices.Delete(p.failed, i, i+1)
	p.mu.Unlock()
	p.receipts.Done([]uint32{slot}, nil)
	select {
	case p.early <- struct{}{}:
	default:
	}
	return true
}

// untilNext is the pause before the next attempt.
func (p *producer) untilNext() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := 1
	for _, slot := range p.failed {
		most = max(most, p.table[slot].unanswered)
	}
	return min(pause<<min(most-1, 10), mostPause)
}

// run sends failed messages again, until Close.
func (p *producer) run() {
	defer close(p.ended)
	vain := false // the last attempt failed
	for {
		select {
		case <-p.wake:
		case <-p.running.Done():
			return
		}
		if !p.rest(p.untilNext()) {
			return
		}
		if p.failing() { // otherwise it was woken for messages that the last attempt took, or that were confirmed late
			p.turn.Lock()
			p.attempt(vain)
			p.turn.Unlock()
		}
		p.mu.Lock()
		vain = len(p.failed) > 0
		if !vain && p.cut.Swap(false) {
			close(p.over)
		}
		p.mu.Unlock()
	}
}

// rest waits for d, or only for pause if the broker answers meanwhile, and reports whether the producer still runs.
func (p *producer) rest(d time.Duration) bool {
	select {
	case <-p.early: // left over from an earlier pause
	default:
	}
	select {
	case <-time.After(d):
		return true
	case <-p.early:
		return p.sleep(min(d, pause))
	case <-p.running.Done():
		return false
	}
}

// sleep waits for d and reports whether the producer still runs.
func (p *producer) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-p.running.Done():
		return false
	}
}

// settle waits until everything in flight has an outcome; false means that the producer is being closed.
func (p *producer) settle() bool {
	_ = p.inner.Flush(p.running) // messages in the client's buffer would wait for ever
	for p.settled.Load() != p.given {
		if !p.sleep(look) {
			return false
		}
	}
	return true
}

// attempt sends the failed messages in the order of their first sending. As soon as one fails again, the rest stays behind it for
// the next attempt. After an attempt in vain, a single message is sent first: otherwise all would be counted as sent again and
// again while a broker is away.
func (p *producer) attempt(vain bool) {
	if p.ordered && !p.settle() {
		return
	}
	p.mu.Lock()
	slots := slices.Clone(p.failed)
	p.failed = p.failed[:0]
	p.mu.Unlock()
	slices.SortFunc(slots, func(a, b uint32) int { return cmp.Compare(p.table[a].order, p.table[b].order) })
	batch, size := make([]driver.Message, 0, most), most
	if vain || p.ordered {
		size = 1
	}
	for len(slots) > 0 && p.running.Err() == nil && !p.failing() {
		n := min(len(slots), size)
		batch = batch[:0]
		for _, slot := range slots[:n] {
			s := &p.table[slot]
			batch = append(batch, driver.Message{Slot: slot, Topic: s.topic, Key: s.key, Payload: s.payload, Headers: s.headers, Resent: true})
		}
		if p.resends != nil {
			p.resends.Resent(slots[:n])
		}
		p.given += int64(n)
		_ = p.inner.Send(p.running, batch) // every slot comes back through Done
		slots = slots[n:]
		if size == 1 && len(slots) > 0 && !p.failing() && p.awaitFirst() {
			size = most
		}
	}
	p.mu.Lock()
	p.failed = append(p.failed, slots...)
	p.mu.Unlock()
	_ = p.inner.Flush(p.running)
}

// awaitFirst waits a while for the outcome of a message that was sent before the others or, if there is an order, until its
// outcome is known. It reports whether the producer still runs.
func (p *producer) awaitFirst() bool {
	if p.ordered {
		return p.settle()
	}
	return p.sleep(pause)
}

func (p *producer) failing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.failed) > 0
}
