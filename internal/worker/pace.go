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

// sendSegment sends a segment and reports whether it was sent to its end; false if the trial was stopped. sleep is nil in a closed
// loop, where a message is due as soon as a slot is free.
//
// It sends the messages that are due in batches, as many as there are free slots. If no slot is free,
// the messages of a schedule stay due and are sent late. Each keeps its intended time, so the wait is
// measured instead of omitted.
func (p *producer) sendSegment(ctx context.Context, t *trial, s *segment, sleep sleeper) (finished bool) {
	p.ownLag.freeAt = max(p.ownLag.freeAt, s.start)
	for s.next < s.limit {
		if stopped(t.stop) {
			return false
		}
		now := clock.Now()
		intended := s.nextAt(now)
		if intended >= s.until() {
			return true
		}
		due := s.due(now, len(p.batch))
		if due == 0 {
			sleep.SleepUntil(min(max(intended, now+int64(coalesce)), now+int64(maxSleep)))
			continue
		}
		slots := p.freeSlots.take(p.batchSlots[:due])
		if slots == 0 {
			p.ownLag.addHold(intended, p.awaitSlots(t))
			continue
		}
		p.ownLag.noteTaken(slots, due)
		if n := p.fillBatch(t, s, slots); n > 0 {
			p.ownLag.addHold(intended, p.send(ctx, t, n))
		}
	}
	return true
}

// fillBatch puts the next messages of a segment into the batch, in the first slots of batchSlots, as long as the segment has messages. It
// frees the slots that are left and returns the number of messages. They are booked before they are handed over, because a consumer can see
// one before Send returns.
func (p *producer) fillBatch(t *trial, s *segment, slots int) (n int) {
	until, now := s.until(), clock.Now()
	var recorder *measure.Producer // each stream has its own, which must commit what it has booked before another one books
	for n < slots {
		intended := s.nextAt(now)
		if intended >= until {
			p.freeSlots.put(p.batchSlots[n:slots])
			break
		}
		from := &p.streams[s.turns.Of(s.next)]
		if next := p.recorderOf(t, from); next != recorder {
			commit(recorder)
			recorder = next
		}
		m := stamp{seq: from.seq, intended: intended, sent: now, own: p.ownLag.ownPart(intended, now)}
		p.fillSlot(n, p.batchSlots[n], from, m, recorder)
		from.seq++
		s.next++
		n++
	}
	commit(recorder)
	return n
}

// commit commits what a recorder has booked; nil has booked nothing.
func commit(recorder *measure.Producer) {
	if recorder != nil {
		recorder.Commit()
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
