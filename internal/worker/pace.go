package worker

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// A client sends its messages in one of two loops. The open loop follows a schedule, whether or not the broker keeps up. The closed loop
// sends whenever a slot is free.

// coalesce is the least time between two wake-ups of a producer that follows a schedule. Messages that become due meanwhile are sent
// together. At 20,000/s that halves the processor time of pacing. It adds at most this much lag, which is recorded as such.
const coalesce = 200 * time.Microsecond

// maxSleep bounds one sleep, so that a producer notices that the trial was stopped.
const maxSleep = 50 * time.Millisecond

// openLoop sends a segment by its schedule and reports whether it was sent to its end.
//
// It sends the messages that are due in batches, as many as there are free slots. If no slot is free, the messages stay due
// and are sent late. Each keeps its intended time, so the wait is measured instead of omitted.
func (p *producer) openLoop(ctx context.Context, t *trial, s *segment, sleep sleeper) (finished bool) {
	p.ownLag.freeAt = max(p.ownLag.freeAt, s.start)
	for s.next < s.limit {
		now := clock.Now()
		due := schedule.Due(s.share, s.next, now-s.start, int(min(s.limit-s.next, int64(len(p.batch)))))
		intended := s.at(s.next)
		if due == 0 {
			if intended >= s.until() {
				return true
			}
			if stopped(t.stop) {
				return false
			}
			sleep.SleepUntil(min(max(intended, now+int64(coalesce)), now+int64(maxSleep)))
			continue
		}
		slots := p.freeSlots.take(p.batchSlots[:due])
		if slots == 0 {
			waited, ok := p.awaitSlots(t)
			p.ownLag.held(intended, waited)
			if !ok {
				return false
			}
			continue
		}
		p.ownLag.took(slots, due)
		n, more := p.fillBatch(t, s, slots)
		if n > 0 {
			p.ownLag.held(intended, p.send(ctx, t, n))
		}
		if !more {
			return !stopped(t.stop)
		}
	}
	return true
}

// fillBatch puts the next messages of a segment into the batch, in the first slots of batchSlots. It returns how many it
// made before the segment or the trial ended, and whether there may be more; it frees the slots of the others. The messages
// are booked before they are handed over, because a consumer can see one before Send returns.
func (p *producer) fillBatch(t *trial, s *segment, slots int) (n int, more bool) {
	var booking booking
	defer booking.commit()
	until, sent := s.until(), clock.Now()
	for i, id := range p.batchSlots[:slots] {
		intended := s.at(s.next)
		if intended >= until || stopped(t.stop) {
			p.freeSlots.put(p.batchSlots[i:slots])
			return i, false
		}
		from := &p.streams[s.turns.Of(s.next)]
		booking.switchTo(p.recorderOf(t, from))
		own := p.ownLag.ownPart(intended, sent)
		p.prepare(i, id, from, stamp{seq: from.seq, intended: intended, sent: sent, own: own}, booking.recorder)
		from.seq++
		s.next++
	}
	return slots, true
}

// closedLoop sends as fast as the window of unconfirmed messages allows: a message is intended when its slot is free. The window is that
// of the load, or all slots if the load has none. It returns the error of the flush at the end.
func (p *producer) closedLoop(ctx context.Context, t *trial, s *segment) error {
	if window := t.load.Window; window > 0 && window < len(p.slots) {
		// Slots that exceed the window are reserved. They are free: no more than a window is in flight from the segment before.
		reserved := make([]uint32, len(p.slots)-window)
		n := p.freeSlots.take(reserved)
		defer p.freeSlots.put(reserved[:n])
	}
	for s.next < s.limit {
		n := p.freeSlots.take(p.batchSlots[:min(s.limit-s.next, int64(len(p.batch)))])
		if n == 0 {
			if _, ok := p.awaitSlots(t); !ok {
				break
			}
			continue
		}
		now := clock.Now()
		if now >= t.measuredUntil.Load() || stopped(t.stop) {
			p.freeSlots.put(p.batchSlots[:n])
			break
		}
		p.fillBatchNow(t, n, now)
		s.next += int64(n)
		p.send(ctx, t, n)
	}
	return p.client.Flush(ctx)
}

// fillBatchNow puts n messages that are intended now into the batch, in the first slots of batchSlots. The client's streams take turns.
func (p *producer) fillBatchNow(t *trial, n int, now int64) {
	var booking booking
	for i, id := range p.batchSlots[:n] {
		from := &p.streams[p.nextStream]
		if p.nextStream++; p.nextStream == len(p.streams) {
			p.nextStream = 0
		}
		booking.switchTo(p.recorderOf(t, from))
		p.prepare(i, id, from, stamp{seq: from.seq, intended: now, sent: now}, booking.recorder)
		from.seq++
	}
	booking.commit()
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

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// sleeper sleeps for one goroutine, until a time on the clock's axis.
type sleeper interface {
	SleepUntil(t int64)
	Close()
}

// maxThreads is how many producers may have a thread of their own to sleep on. More producers share one alarm: a thousand threads would
// cost more than its little delay.
const maxThreads = 4

// sleepers makes the sleepers of all producers of a trial.
type sleepers struct{ alarm *clock.Alarm } // nil: each producer has a thread

func newSleepers(producers int) sleepers {
	if producers <= maxThreads {
		return sleepers{}
	}
	return sleepers{alarm: clock.NewAlarm(coalesce)}
}

// next makes the sleeper of one producer, whose goroutine calls it.
func (s sleepers) next() sleeper {
	if s.alarm == nil {
		return clock.NewSleeper()
	}
	return s.alarm.NewWaiter()
}

// close ends the alarm. All producers must have ended.
func (s sleepers) close() {
	if s.alarm != nil {
		s.alarm.Close()
	}
}
