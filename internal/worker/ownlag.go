package worker

import "github.com/brokermark/brokermark/internal/clock"

// ownLag tells how much of a producer's delays the generator itself caused. It follows an imagined second producer that
// does the same work for the same client and is never late by itself. That producer takes up each batch when its first
// message is due and the client has let the producer go, and the client holds it for as long as it held the real one. Let
// due(k) be the time of batch k's first message, and held(k) the time that Send and waiting for slots took. Then
//
//	free(k) = max(free(k−1), due(k)) + held(k)          (Lindley's recursion for a queue with one server)
//	own(message) = sent − max(intended, free(k−1))
//
// An example: a message is due at 0, Send takes 5 ms, and the next message, due at 1 ms, is sent at 5.1 ms. It is 4.1 ms
// late, but the client held even the imagined producer until 5 ms, so the generator's own part is 0.1 ms.
//
// So a pause of the generator counts as its own until the last message that was late because of it has been sent, catching
// up included. What a slow client or broker adds meanwhile does not.
//
// While the window is full, slots come when the broker is ready, however quick the producer is. The time that it dawdles
// between two holds it would otherwise have waited in the second. So held(k) then begins when the hold before it ended.
// A standstill of the whole process is never the client's.
type ownLag struct {
	free     int64 // when the imagined producer is free again, ns on the clock's axis
	lastHold hold  // of the real producer
	full     bool  // since lastHold the producer has taken every slot there was, and wanted more
}

// hold is a time in which the client, or its full window, held the producer up. stoodBefore and stood are how long the
// process had stood still, in all, when the hold began and when it ended. All are in ns, the first two on the clock's axis.
type hold struct{ began, ended, stoodBefore, stood int64 }

// beginHold begins a hold now; end ends it.
func beginHold(w *clock.Watch) hold {
	now := clock.Now()
	return hold{began: now, stoodBefore: w.Stood(now)}
}

func (h *hold) end(w *clock.Watch) {
	h.ended = clock.Now()
	h.stood = w.Stood(h.ended)
}

func (h hold) ns() int64 { return h.ended - h.began }

// of is the part of a message's delay that the generator caused.
func (l *ownLag) of(intended, sent int64) int64 { return max(0, sent-max(intended, l.free)) }

// took notes how many slots there were for the messages that were due.
func (l *ownLag) took(slots, due int) { l.full = slots < due }

// held notes a hold. due is when the first message that it delayed was due.
func (l *ownLag) held(due int64, h hold) {
	began, stood := h.began, h.stoodBefore
	if l.full && l.lastHold.ended > 0 {
		began, stood = l.lastHold.ended, l.lastHold.stood
	}
	l.free = max(l.free, due) + max(0, h.ended-began-max(0, h.stood-stood))
	l.lastHold = h
}
