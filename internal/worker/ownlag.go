package worker

import "github.com/brokermark/brokermark/internal/clock"

// ownLag separates the delay of messages that the generator itself caused from the delay that the client or its full window caused. It
// follows an imagined second producer that sends the same batches through the same client and is never late by itself. That producer
// takes up each batch when its first message is due and the client has let go of the batch before, and the client holds it for as long as
// it held the real producer. Let due(k) be the time of batch k's first message, and held(k) the time that Send and waiting for slots
// took. Then the imagined producer is free again at
//
//	free(k) = max(free(k−1), due(k)) + held(k)          (Lindley's recursion for a queue with one server)
//
// and the generator itself caused, of a message's delay sent − intended,
//
//	own = sent − max(intended, free(k−1))
//
// For example, a message is due at 0, Send takes 5 ms, and the next message, due at 1 ms, is sent at 5.1 ms. It is 4.1 ms late, but the
// client held even the imagined producer until 5 ms, so the generator's own part is 0.1 ms.
//
// After a pause of the generator, the delays count as its own until it has caught up. What a slow client or broker adds meanwhile does not.
//
// While the window is full, slots become free when the broker is ready, however quick the producer is: time that the producer loses
// between two holds it would otherwise have spent waiting in the second one. So held(k) then begins when the hold before it ended. A
// standstill of the whole process never counts as the client's.
type ownLag struct {
	freeAt     int64 // when the imagined producer is free again, ns on the clock's axis
	lastHold   hold  // of the real producer; zero before the first
	windowFull bool  // since lastHold the producer has taken every slot there was, and wanted more
}

// hold is a time in which the client, or its full window, held the producer up.
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

// ownPart returns how much of a message's delay the generator caused, in ns.
func (l *ownLag) ownPart(intended, sent int64) int64 { return max(0, sent-max(intended, l.freeAt)) }

// noteTaken notes how many slots the real producer took, of as many as messages were due. The next hold depends on that.
func (l *ownLag) noteTaken(slots, due int) { l.windowFull = slots < due }

// addHold adds a hold of the real producer. due is when the first message that it delayed was due.
func (l *ownLag) addHold(due int64, h hold) {
	began, stood := h.began, h.stoodAtBegin
	if l.windowFull && l.lastHold.ended > 0 {
		began, stood = l.lastHold.ended, l.lastHold.stoodAtEnd
	}
	stoodStill := max(0, h.stoodAtEnd-stood)
	l.freeAt = max(l.freeAt, due) + max(0, h.ended-began-stoodStill)
	l.lastHold = h
}
