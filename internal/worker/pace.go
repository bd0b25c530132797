package worker

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// coalesce is the least time between two wake-ups of a pacing producer. At 20,000/s it halves the processor time of pacing.
// It adds at most this much lag, which is recorded as such.
const coalesce = 200 * time.Microsecond

// threads is how many producers may have a thread of their own to sleep on. If there are more, they all share one alarm: a
// thousand threads would cost more than its little delay.
const threads = 4

// sleepers returns a function that makes a sleeper for one of n producers; the producer's own goroutine calls it. Call
// release when all producers have ended.
func sleepers(n int) (sleep func() sleeper, release func()) {
	if n <= threads {
		return func() sleeper { return clock.NewSleeper() }, func() {}
	}
	alarm := clock.NewAlarm(coalesce)
	return func() sleeper { return alarm.Waiter() }, alarm.Close
}

// sleeper sleeps for one goroutine, until a time on the clock's axis.
type sleeper interface {
	SleepUntil(t int64)
	Close()
}

// nap bounds one sleep, so that a stopped trial is noticed.
const nap = 50 * time.Millisecond

// openLoop sends a segment by its schedule and reports whether it was sent to its end.
//
// It sends the messages that are due in batches, as many as there are free slots. If no slot is free, the messages stay due
// and are sent late. Each keeps its intended time, so the wait is measured instead of omitted.
func (p *producer) openLoop(ctx context.Context, t *trial, s *segment, pause sleeper) (whole bool) {
	p.ownLag.freeAt = max(p.ownLag.freeAt, s.start)
	for s.next < s.limit {
		now := clock.Now()
		due := schedule.Due(s.share, s.next, now-s.start, int(min(s.limit-s.next, int64(len(p.batch)))))
		at := s.at(s.next)
		switch {
		case due == 0 && at >= s.until():
			return true
		case due == 0 && stopped(t.stop):
			return false
		case due == 0:
			pause.SleepUntil(min(max(at, now+int64(coalesce)), now+int64(nap)))
			continue
		}
		n := p.freeSlots.take(p.batchSlots[:due])
		if n == 0 {
			waited, ok := p.awaitSlots(t)
			p.ownLag.held(at, waited)
			if !ok {
				return false
			}
			continue
		}
		p.ownLag.took(n, due)
		n, more := p.claim(t, s, n)
		if n > 0 {
			p.ownLag.held(at, p.send(ctx, t, n))
		}
		if !more {
			return !stopped(t.stop)
		}
	}
	return true
}

// claim puts the next n messages of a segment into the batch, in the first n slots of batchSlots. It returns how many it
// made before the segment or the trial ended, and whether there may be more; it frees the slots of the others. The messages
// are booked before they are handed over, because a consumer can see one before Send returns.
func (p *producer) claim(t *trial, s *segment, n int) (made int, more bool) {
	var books booking
	defer books.commit()
	until, sent := s.until(), clock.Now()
	for i, id := range p.batchSlots[:n] {
		intended := s.at(s.next)
		if intended >= until || stopped(t.stop) {
			p.freeSlots.put(p.batchSlots[i:n])
			return i, false
		}
		from := &p.streams[s.turns.Of(s.next)]
		books.switchTo(p.recorderOf(t, from))
		p.prepare(i, id, from, stamp{from.seq, intended, sent, p.ownLag.ownPart(intended, sent)}, books.recorder)
		from.seq++
		s.next++
	}
	return n, true
}

// booking is the recorder that books the messages of a batch. They may belong to several streams, each with a recorder of its
// own, which commits what it has booked when the next one takes over.
type booking struct{ recorder *measure.Producer } // nil: nothing is booked yet

func (b *booking) switchTo(r *measure.Producer) {
	if r != b.recorder {
		b.commit()
		b.recorder = r
	}
}

func (b *booking) commit() {
	if b.recorder != nil {
		b.recorder.Commit()
	}
}

// closedLoop sends as fast as the in-flight window allows: a message is intended when its slot is free. The window is that of
// the load, or all slots if the load has none.
func (p *producer) closedLoop(ctx context.Context, t *trial, s *segment) error {
	if window := t.load.Window; window > 0 && window < len(p.slots) {
		// The slots beyond the window are reserved. They are free: no more than a window is in flight from the segment before.
		reserved := make([]uint32, len(p.slots)-window)
		n := p.freeSlots.take(reserved)
		defer p.freeSlots.put(reserved[:n])
	}
	for s.next < s.limit {
		n := p.freeSlots.take(p.batchSlots[:min(s.limit-s.next, int64(len(p.batch)))])
		if n == 0 {
			if _, ok := p.awaitSlots(t); !ok {
				return p.flush(ctx)
			}
			continue
		}
		now := clock.Now()
		if now >= t.measuredUntil.Load() || stopped(t.stop) {
			p.freeSlots.put(p.batchSlots[:n])
			return p.flush(ctx)
		}
		var books booking
		for i, id := range p.batchSlots[:n] {
			from := &p.streams[p.nextStream]
			if p.nextStream++; p.nextStream == len(p.streams) {
				p.nextStream = 0
			}
			books.switchTo(p.recorderOf(t, from))
			p.prepare(i, id, from, stamp{from.seq, now, now, 0}, books.recorder)
			from.seq++
		}
		s.next += int64(n)
		books.commit()
		p.send(ctx, t, n)
	}
	return p.flush(ctx)
}

func (p *producer) flush(ctx context.Context) error { return p.client.Flush(ctx) }

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}
