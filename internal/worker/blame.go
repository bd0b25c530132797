package worker

// blame tells how much of a producer's delays the generator itself caused. It follows a second producer that does the
// same work for the same client and is never late by itself: it takes up each batch when the first message of it is due
// and the client has let it go, and the client holds it for as long as it held the real one. With due(k) the time of
// the batch's first message and held(k) what Send and waiting for slots took,
//
//	free(k) = max(free(k−1), due(k)) + held(k)          (Lindley's recursion for a queue with one server)
//	own(message) = sent − max(intended, free(k−1))
//
// So a pause is the generator's until the last message that was late because of it has been sent, catching up
// included, while what a slow client or broker adds meanwhile isn't. The real producer is never ahead of the other.
type blame struct {
	free int64 // when the other producer is free again, ns on the clock's axis
}

func (b *blame) own(intended, sent int64) int64 { return max(0, sent-max(intended, b.free)) }

// held says that the client held the producer, for so many ns, before it could go on from a message due at due.
func (b *blame) held(due, ns int64) { b.free = max(b.free, due) + max(0, ns) }
