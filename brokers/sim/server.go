package sim

import (
	"runtime"
	"sync"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	// coalesce is the least time between two rounds of the server while it is busy: it bounds both the cost of waking and
	// the delay that it adds to a delivery.
	coalesce = int64(50_000)
	// handful is the most that is handed over while holding the lock once.
	handful = 256
)

// server does everything that is due, in one goroutine on a thread of its own.
type server struct {
	broker *broker
	waker  *waker
	until  int64 // it sleeps until then, unless woken; 0: it is awake. Guarded by the broker's lock
	ending bool  // guarded by the broker's lock
	ended  sync.WaitGroup

	completing []*producer
	delivering []handover
	released   []*chunk
	more       bool // a consumer got a full handful: there is probably more for it
}

type handover struct {
	queue    *queue
	consumer *consumer
}

func (b *broker) startServer() error {
	w, err := newWaker()
	if err != nil {
		return err
	}
	s := &server{broker: b, waker: w, released: make([]*chunk, 0, handful)}
	b.server = s
	s.ended.Go(s.run)
	return nil
}

// stop ends the server and waits for it; the caller doesn't hold the broker's lock.
func (s *server) stop() {
	s.broker.mu.Lock()
	s.ending = true
	s.broker.mu.Unlock()
	s.wake()
	s.ended.Wait()
}

// wakeFor reports whether the sleeping server must be woken for something due at t.
func (s *server) wakeFor(t int64) bool {
	if s == nil || s.until <= t {
		return false
	}
	s.until = 0
	return true
}

// wake ends the server's sleep. The caller holds the broker's lock, or keeps the broker open.
func (s *server) wake() {
	if s != nil {
		s.waker.wake()
	}
}

func (s *server) run() {
	runtime.LockOSThread() // the timer slack is the thread's; it dies with this goroutine
	precise()
	var rest int64 // until when the last round lets more work gather
	for {
		began := now()
		until, ended := s.survey(began)
		switch {
		case ended:
			return
		case until > began:
			s.waker.sleep(max(until, rest))
			s.waker.sleep(rest) // where a producer woke it
		case began < rest && !s.more:
			s.waker.sleep(rest)
		default:
			s.round(began)
			rest = began + coalesce
		}
	}
}

// round carries out everything that survey found due at now.
func (s *server) round(now int64) {
	for _, p := range s.completing {
		s.complete(p, now)
	}
	s.more = false
	for _, h := range s.delivering {
		s.deliver(h, now)
	}
	s.admit()
}

// survey lists the actions due at now, or returns until when the server may sleep.
func (s *server) survey(now int64) (until int64, ended bool) {
	b := s.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	s.completing, s.delivering = s.completing[:0], s.delivering[:0]
	s.until = 0
	if s.ending || b.isKilled() {
		return 0, true
	}
	elapsed := b.elapsed(now)
	t := b.freezes.broker(elapsed)
	next := never
	for _, p := range b.producers {
		for topic, h := range p.held {
			if h.held+heldAtMost <= t {
				b.letGo(p, topic, h.held)
			} else {
				next = min(next, h.held+heldAtMost)
			}
		}
		if p.acks.len == 0 {
			continue
		}
		if due := p.acks.first().due; due > t {
			next = min(next, due)
			continue
		}
		s.completing = append(s.completing, p)
	}
	for _, q := range b.queues {
		if q.len == 0 || len(q.consumers) == 0 {
			continue
		}
		if due := q.first(); due > t {
			next = min(next, due)
			continue
		}
		s.delivering = append(s.delivering, handover{q, q.reader()})
	}
	idle := len(s.completing)+len(s.delivering) == 0
	switch {
	case b.paused != 0:
		s.until = never
	case b.freezes.frozen(elapsed):
		s.until = b.wall(t) // even deliveries due just before wait now, as in a stopped process
	case !idle:
		return 0, false
	case next == never:
		s.until = never
	default:
		s.until = b.wall(next)
	}
	return s.until, false
}

// complete sends the acknowledgements due at now.
func (s *server) complete(p *producer, now int64) {
	b := s.broker
	p.completing.Lock()
	defer p.completing.Unlock()
	for {
		p.scratch = p.scratch[:0]
		b.mu.Lock()
		t := b.freezes.broker(b.elapsed(now))
		var failed bool
		for p.acks.len > 0 && len(p.scratch) < handful {
			k := p.acks.first()
			if len(p.scratch) == 0 {
				failed = k.failed
			}
			if k.due > t || k.failed != failed {
				break
			}
			p.scratch = append(p.scratch, k.slot)
			p.acks.drop()
		}
		b.mu.Unlock()
		if len(p.scratch) == 0 {
			return
		}
		var err error
		if failed {
			err = errRefused
		}
		p.receipts.Done(p.scratch, err)
		b.mu.Lock()
		p.unacked -= int64(len(p.scratch))
		b.mu.Unlock()
	}
}

// deliver hands one consumer the deliveries due at now.
func (s *server) deliver(h handover, now int64) {
	b, c := s.broker, h.consumer
	h.queue.turn++
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	s.released = s.released[:0]
	b.mu.Lock()
	t := b.freezes.broker(b.elapsed(now))
	for h.queue.len > 0 && c.batch.Len() < handful && h.queue.first() <= t {
		e := h.queue.pop()
		c.batch.Add(e.payload(), e.header)
		s.released = append(s.released, e.chunk)
	}
	b.mu.Unlock()
	n := c.batch.Len()
	if n == 0 {
		return
	}
	s.more = s.more || n == handful
	if b.settings.work > 0 {
		burn(int64(b.settings.work) * int64(n))
	}
	c.batch.Deliver(c.sink)
	b.mu.Lock()
	for _, k := range s.released {
		b.memory.release(k)
	}
	b.waiting -= int64(n)
	b.stats.Delivered += int64(n)
	b.mu.Unlock()
}

// admit wakes waiting producers when there may be room.
func (s *server) admit() {
	b := s.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.producers {
		if !p.waiting {
			continue
		}
		p.waiting = false
		select {
		case p.room <- struct{}{}:
		default:
		}
	}
}

// consumer is a client of the broker that reads one topic of one subscription.
type consumer struct {
	sink driver.Sink

	mu    sync.Mutex // held while delivering; taken before the broker's lock
	gone  bool
	batch driver.Batch
}
