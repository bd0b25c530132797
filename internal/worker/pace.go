package worker

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// coalesce is the least time between two wake-ups of a producer that follows a schedule. Messages
// that become due meanwhile are sent together. At 20,000/s that halves the processor time of pacing.
// It adds at most this much lag, which is recorded as such.
const coalesce = 200 * time.Microsecond

// maxSleep bounds one sleep, so that a producer notices that the trial was stopped.
const maxSleep = 50 * time.Millisecond

// sendSegment sends a segment and reports whether it was sent to its end. sleep is nil in a closed
// loop, where a message is due as soon as a slot is free.
//
// It sends the messages that are due in batches, as many as there are free slots. If no slot is free,
// the messages of a schedule stay due and are sent late. Each keeps its intended time, so the wait is
// measured instead of omitted.
func (p *producer) sendSegment(ctx context.Context, t *trial, s *segment, sleep sleeper) (finished bool) {
	p.ownLag.freeAt = max(p.ownLag.freeAt, s.start)
	for s.next < s.limit {
		now := clock.Now()
		intended := s.nextAt(now)
		due := s.due(now, len(p.batch))
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

// fillBatch puts the next messages of a segment into the batch, in the first slots of batchSlots. It
// returns how many it made before the segment or the trial ended, and whether there may be more; it
// frees the slots of the others. The messages are booked before they are handed over, because a
// consumer can see one before Send returns.
func (p *producer) fillBatch(t *trial, s *segment, slots int) (n int, more bool) {
	var booking booking
	defer booking.commit()
	until, now, stop := s.until(), clock.Now(), stopped(t.stop)
	for i, id := range p.batchSlots[:slots] {
		intended := s.nextAt(now)
		if intended >= until || stop {
			p.freeSlots.put(p.batchSlots[i:slots])
			return i, false
		}
		from := &p.streams[s.turns.Of(s.next)]
		booking.switchTo(p.recorderOf(t, from))
		m := stamp{seq: from.seq, intended: intended, sent: now, own: p.ownLag.ownPart(intended, now)}
		p.fillSlot(i, id, from, m, booking.recorder)
		from.seq++
		s.next++
	}
	return slots, true
}

// booking is the recorder that books the messages of a batch. They may belong to several streams,
// each with a recorder of its own, which commits what it has booked when the next one takes over.
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

// reserveSlots takes the slots that exceed a window of unconfirmed messages out of use, and returns a
// function that gives them back. They are free: no more than a window is in flight from the trial
// before.
func (p *producer) reserveSlots(window int) (release func()) {
	if window == 0 || window >= len(p.slots) {
		return func() {}
	}
	reserved := make([]uint32, len(p.slots)-window)
	n := p.freeSlots.take(reserved)
	return func() { p.freeSlots.put(reserved[:n]) }
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}
