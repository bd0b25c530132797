package measure

import (
	"math/bits"
	"sync/atomic"
)

// arrivals are the deliveries to one consumer, on their way into the ledgers. Successive deliveries of one stream are gathered as long as
// they fall into the same word of the ledger's bitmap, and then published together. Messages that come in order cost a few atomic
// operations for 64 of them in this way. The zero value is empty.
//
// A message counts as reordered if it arrives after a later one of its stream (RFC 4737, section 3), or of its key if order is promised
// per key. For example, if messages 0, 2, 1, 3 arrive in this order, 1 is reordered; if 3, 2, 1, 0 do, all but 3 are. Over a whole stream,
// a message that came to another consumer counts as a later one only if it had been published when the gathering of a word began.
type arrivals struct {
	received Tally // messages that came for the first time and are published; flush takes them
	gathered gathered
}

// gathered is deliveries of one word of a ledger that are not published yet. A set of them has bit i for message 64·word + i.
//
// For example, 0 to 9 had been published when 10, 13, 12 and 10 arrive. Then published is 0 to 9, added is 10, 12 and 13, late is 12, next
// is 14, and one message is duplicated.
type gathered struct {
	ledger     *ledger // nil if there are no deliveries
	word       uint64
	published  uint64         // set: the messages of the word that had been published before the first of these deliveries
	added      [phases]uint64 // set by phase: the messages that these deliveries add
	late       uint64         // set: those of added that are reordered
	next       uint64         // one past the highest number of the stream that is known to have been received
	duplicated Tally
	first      int64 // when the first of these deliveries came, ns on the clock's axis
	last       int64 // when the last of them came
}

// add adds the delivery of message n at now, and reports whether it is the first one of this message, as far as consumers have published
// theirs. nextOfKey is one past the highest number received with the message's key; nil if order is promised over the whole stream.
func (a *arrivals) add(l *ledger, n uint64, nextOfKey *atomic.Uint64, phase Phase, now int64) (isNew bool) {
	g := &a.gathered
	if g.ledger != l || g.word != n/64 {
		a.publish()
		g.ledger, g.word, g.published, g.next, g.first = l, n/64, l.seen.word(n), l.next.Load(), now
	}
	g.last = now
	bit := uint64(1) << (n % 64)
	isNew = (g.published|g.allAdded())&bit == 0
	if isNew {
		late := n < g.next
		if nextOfKey != nil {
			late = advance(nextOfKey, n)
		}
		if late {
			g.late |= bit
		}
		g.added[phase] |= bit
		g.next = max(g.next, n+1)
	} else {
		g.duplicated[phase]++
	}
	if nextOfKey != nil {
		// Other consumers see the number of the key at once. If they didn't see the message as well, they would take a later copy of it for
		// reordered, not for a duplicate.
		a.publish()
	}
	return isNew
}

// allAdded returns the set of messages that the deliveries add, of all phases.
func (g *gathered) allAdded() uint64 { return g.added[Warmup] | g.added[Measured] }

// advance raises next to n + 1, unless it is higher. It reports whether n is late: a higher number was received before.
func advance(next *atomic.Uint64, n uint64) (late bool) {
	for {
		old := next.Load()
		if n < old {
			return n+1 < old // otherwise n itself has come to another consumer, which hasn't published it yet
		}
		if next.CompareAndSwap(old, n+1) {
			return false
		}
	}
}

// flush publishes all deliveries, and returns how many messages came for the first time since the last flush.
func (a *arrivals) flush() (received Tally) {
	a.publish()
	received, a.received = a.received, Tally{}
	return received
}

// publish writes the gathered deliveries into their ledger.
func (a *arrivals) publish() {
	g := &a.gathered
	l := g.ledger
	if l == nil {
		return
	}
	// The times come before the messages, so that a reader that finds a message (Accounts) finds times as well.
	lower(&l.first, g.first)
	raise(&l.last, g.last)
	if all := g.allAdded(); all != 0 {
		// Another consumer may have received the same message meanwhile. Then this delivery is the duplicate.
		before := l.seen.addWord(64*g.word, all)
		var reordered Tally
		for phase, added := range g.added {
			isNew := added &^ before
			a.received[phase] += int64(bits.OnesCount64(isNew))
			reordered[phase] = int64(bits.OnesCount64(isNew & g.late))
			g.duplicated[phase] += int64(bits.OnesCount64(added & before))
		}
		l.reordered.add(reordered)
		advance(&l.next, g.next-1)
	}
	l.duplicated.add(g.duplicated)
	*g = gathered{}
}
