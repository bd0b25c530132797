package worker

import "github.com/brokermark/brokermark/internal/clock"

// blame tells how much of a producer's delays the generator itself caused. It follows a second producer that does the
// same work for the same client and is never late by itself: it takes up each batch when the first message of it is due
// and the client has let it go, and the client holds it for as long as it held the real one. With due(k) the time of
// the batch's first message and held(k) what Send and waiting for slots took,
//
//	free(k) = max(free(k−1), due(k)) + held(k)          (Lindley's recursion for a queue with one server)
//	own(message) = sent − max(intended, free(k−1))
//
// So a pause is the generator's until the last message that was late because of it has been sent, catching up
// included, while what a slow client or broker adds meanwhile isn't.
//
// While the window is what holds the producer up, slots come when the broker is ready, however quick the producer is:
// what it dawdles between two holds it would have waited longer in the second. held(k) then runs from the end of the one
// before. What the whole process stood still is never the client's.
type blame struct {
	free int64 // when the other producer is free again, ns on the clock's axis
	last hold  // of the real one
	full bool  // since then it has taken every slot there was, and wanted more
}

// hold is a time in which the client or its window held the producer up, ns on the clock's axis, with what the process
// had stood still by its beginning and by its end.
type hold struct{ began, ended, stoodBefore, stood int64 }

// beginHold and end bracket a hold.
func beginHold(w *clock.Watch) hold {
	now := clock.Now()
	return hold{began: now, stoodBefore: w.Stood(now)}
}

func (h *hold) end(w *clock.Watch) {
	h.ended = clock.Now()
	h.stood = w.Stood(h.ended)
}

func (h hold) ns() int64 { return h.ended - h.began }

func (b *blame) own(intended, sent int64) int64 { return max(0, sent-max(intended, b.free)) }

// took notes how many slots there were for the messages that were due.
func (b *blame) took(slots, due int) { b.full = slots < due }

// held notes a hold of the producer before a message that was due at due.
func (b *blame) held(due int64, h hold) {
	began, stood := h.began, h.stoodBefore
	if b.full && b.last.ended > 0 {
		began, stood = b.last.ended, b.last.stood
	}
	b.free = max(b.free, due) + max(0, h.ended-began-max(0, h.stood-stood))
	b.last = h
}
