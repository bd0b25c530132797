package worker

import "github.com/brokermark/brokermark/internal/clock"

// ownLag computes how much of a message's delay the generator, this program, has caused itself. The client library caused the
// rest: its Send took long, or its window of unconfirmed messages was full.
//
// For example, a message is due at 0, and its Send takes 5 ms. The next one is due at 1 ms and sent at 5.1 ms. It is 4.1 ms late,
// but even a generator that is never late could not have sent it before 5 ms. So the generator's own part is 0.1 ms.
//
// In general, ownLag follows such an imagined generator. It sends the same batches through the same library. It begins batch k
// when the batch's first message is due, at due(k), or when it is free again, whichever is later. Then the library holds it for
// held(k), as long as it held the real one in Send and in waiting for slots. So the imagined generator is free again at
//
//	free(k) = max(free(k−1), due(k)) + held(k)          (Lindley's recursion for a queue with one server)
//
// and the real one has caused, of a message's delay sent − intended,
//
//	own = sent − max(intended, free(k−1))
//
// Where producers work on each message first (work), a message counts as due when that work is done.
//
// Two more rules define held(k). It excludes time in which the whole process stood still. And while the window is full, it begins
// when the hold before it ended: slots then become free when the broker is ready, however quick the generator is. If the
// generator loses 1 ms between two holds, it waits 1 ms less in the second one.
type ownLag struct {
	freeAt     int64 // when the imagined generator is free again, ns on the clock's axis
	lastHold   hold  // of the real one; zero before the first
	windowFull bool  // since lastHold the real one took all free slots, and needed more
}

// hold is a time in which the client library held the generator up: in Send, or in waiting for slots.
type hold struct {
	began, ended int64 // ns on the clock's axis
	// The time for which the process had stood still since the trial began, ns: read when the hold began, and when it ended.
	stoodAtBegin, stoodAtEnd int64
}

// beginHold begins a hold now. The method end ends it.
func beginHold(w *clock.Watch) hold {
	now := clock.Now()
	return hold{began: now, stoodAtBegin: w.Stood(now)}
}

func (h *hold) end(w *clock.Watch) {
	h.ended = clock.Now()
	h.stoodAtEnd = w.Stood(h.ended)
}

func (h hold) ns() int64 { return h.ended - h.began }

// held returns the length of a hold without the time in which the process stood still.
func (h hold) held() int64 { return max(0, h.ns()-(h.stoodAtEnd-h.stoodAtBegin)) }

// ownPart returns how much of a message's delay the generator itself caused, in ns.
func (l *ownLag) ownPart(intended, sent int64) int64 { return max(0, sent-max(intended, l.freeAt)) }

// noteTaken notes how many slots were free, and how many messages due, at a send. The next hold depends on that.
func (l *ownLag) noteTaken(slots, due int) { l.windowFull = slots < due }

// addHold adds a hold of the real generator. due is when the first message that it delayed was due.
func (l *ownLag) addHold(due int64, h hold) {
	began, stoodAtBegin := h.began, h.stoodAtBegin
	if l.windowFull && l.lastHold.ended > 0 {
		began, stoodAtBegin = l.lastHold.ended, l.lastHold.stoodAtEnd
	}
	stoodStill := max(0, h.stoodAtEnd-stoodAtBegin)
	held := max(0, h.ended-began-stoodStill)
	l.freeAt = max(l.freeAt, due) + held
	l.lastHold = h
}
