// Package resend makes producers survive a broker's restart: what a lost connection has left without an outcome is
// sent again. It knows nothing of protocols and reconnecting; the driver tells with driver.ErrDisconnected what may be
// sent again.
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
	// pause is from a failure to the next attempt: the failures of one cut gather meanwhile, and a broker that is
	// coming up is asked a few times per second only. Where a message was not answered on a connection that lives (driver.ErrUnanswered), it
	// doubles with every time, up to mostPause: a broker that is slow must not be given more and more.
	pause     = 50 * time.Millisecond
	mostPause = 5 * time.Second
	// most is how many messages one Send of an attempt carries.
	most = 256
	// look is how often it is asked whether all that is in flight has an outcome.
	look = time.Millisecond
)

// producer hands messages on and remembers them until their outcome is known. While something waits to be sent again,
// new messages wait behind it, so that the order is kept:
//
//	Send ──(turn)──> inner ──> Done ── outcome ──> receipts
//	                   ^         └─ ErrDisconnected ─> failed ─┐
//	                   └────────(turn)──── run <───────────────┘
type producer struct {
	inner    driver.Producer
	receipts driver.Receipts
	resends  driver.Resends // nil: nobody wants to know
	ordered  bool
	table    []sent // by slot
	next     uint64 // order of the next message; the caller's

	// turn is held by whoever uses inner: the caller per batch, run for an attempt, and that only while cut is set.
	turn  sync.Mutex
	cut   atomic.Bool // something has to be sent again first; changed under mu
	given int64       // messages that inner was given, each as often as it was sent; under turn

	mu     sync.Mutex
	failed []uint32
	last   error         // of failed
	over   chan struct{} // closed when cut is taken back
	closed bool

	wake    chan struct{} // holds one wake-up
	early   chan struct{} // likewise; ends a pause: the broker has answered
	ended   chan struct{}
	running context.Context //nolint:containedctx // ends with the producer, not with a call
	stop    context.CancelFunc

	_       [64]byte     // not on a cache line with what Send writes
	settled atomic.Int64 // of given, those that came back through Done
}

// sent is the message in a slot. It is copied field by field, which is half the cost of copying it as a whole.
type sent struct {
	topic        int
	key, payload []byte
	headers      *driver.Headers
	order        uint64
	unanswered   int // how often; of failed, under mu
}

// Producer makes a producer by open, which gets the receipts to report to. Unless g is at-most-once, what open's
// producer completes with driver.ErrDisconnected is sent again, in the order of sending, until it is acknowledged or
// refused or until Close; only then r learns the fate of the slot. Exactly-once additionally needs a driver that
// heeds Message.Resent.
//
// Where g is ordered, nothing is sent again while any message is without an outcome: the broker that has taken in the
// second of two may yet let the first go, which would then come behind it. And a single message goes ahead until it is
// acknowledged: a broker that is coming up may refuse the first of two and take in the second.
//
// Send waits, like for back-pressure, while there are messages to be sent again.
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

// Send implements driver.Producer. That the connection is lost is no error here: the batch will be sent again.
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

// enter takes the turn as soon as nothing waits to be sent again.
func (p *producer) enter(ctx context.Context) error {
	for {
		if p.turn.TryLock() { // else run has it
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

// Flush implements driver.Producer; what is sent again is flushed after each attempt.
func (p *producer) Flush(ctx context.Context) error {
	if !p.turn.TryLock() {
		return nil
	}
	defer p.turn.Unlock()
	return p.inner.Flush(ctx)
}

// Close implements driver.Producer: what waits to be sent again fails.
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
	p.settled.Add(int64(len(slots))) // after keep: who sees all settled sees all that failed
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

// Late tells that the broker has confirmed after all what a slot carries, which was completed with driver.ErrUnanswered. It reports whether
// that waited to be sent again; now it won't be. still is asked before, under the lock, whether the confirmation is of that very message.
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

// run sends again what has failed, until Close.
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
		if p.failing() { // else woken for what the last attempt had taken already, or what was confirmed after all
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

// rest waits for d, or no longer than pause where the broker answers meanwhile, and tells whether the producer still runs.
func (p *producer) rest(d time.Duration) bool {
	select {
	case <-p.early: // of a pause before
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

// sleep waits for d and tells whether the producer still runs.
func (p *producer) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-p.running.Done():
		return false
	}
}

// settle waits until everything in flight has an outcome and tells whether it has; if not, the producer is being closed.
func (p *producer) settle() bool {
	_ = p.inner.Flush(p.running) // what the client holds back would wait for ever
	for p.settled.Load() != p.given {
		if !p.sleep(look) {
			return false
		}
	}
	return true
}

// attempt sends what has failed in the order in which it was sent first. As soon as something fails again, the rest
// stays behind it for the next attempt. After an attempt in vain a single message goes ahead: while a broker is away,
// not all of them shall be counted as sent again and again.
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

// awaitFirst gives a message that was sent ahead of the others the time to succeed or fail, and where there is an order
// waits until it has; it tells whether the producer still runs.
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
