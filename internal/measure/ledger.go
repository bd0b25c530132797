package measure

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// ledger records which messages of one stream one subscription received. Several consumers of the subscription write to it at once.
type ledger struct {
	seen       bitmap                          // the numbers received
	next       atomic.Uint64                   // one past the highest number received
	keys       int                             // how many keys there are; 0: order is promised over the whole stream
	nextOfKey  atomic.Pointer[[]atomic.Uint64] // by key: one past the highest number received; nil until a message with a key came
	duplicated atomicTally
	reordered  atomicTally
	first      atomic.Int64 // when the earliest delivery came, ns on the clock's axis; math.MaxInt64 if none did
	last       atomic.Int64 // when the latest came; math.MinInt64 if none did
}

// init makes the ledger of a stream whose messages have keys; 0 of them if order is promised over the whole stream.
func (l *ledger) init(keys int) {
	l.keys = keys
	l.first.Store(math.MaxInt64)
	l.last.Store(math.MinInt64)
}

// advance raises next to n + 1, unless it is higher. It reports whether n is late: a higher number was received before.
func advance(next *atomic.Uint64, n uint64) (late bool) {
	old := next.Load()
	for ; n >= old; old = next.Load() {
		if next.CompareAndSwap(old, n+1) {
			return false
		}
	}
	return old > n+1 // old is n + 1 if n itself has come to another consumer, which hasn't published it yet
}

// nextWith returns one past the highest number received with a key.
func (l *ledger) nextWith(key int) *atomic.Uint64 {
	next := l.nextOfKey.Load()
	if next == nil {
		made := make([]atomic.Uint64, l.keys)
		l.nextOfKey.CompareAndSwap(nil, &made) // another consumer of the subscription may have been faster
		next = l.nextOfKey.Load()
	}
	return &(*next)[key]
}

// arrivals gathers successive deliveries of one stream to one consumer, as long as they fall into the same word of the bitmap. Messages
// that come in order then cost a few atomic operations for 64 of them. Its zero value is empty.
//
// A message counts as reordered if it arrives after a later one of its stream (RFC 4737, section 3), or of its key if order is promised
// per key. For example, if messages 0, 2, 1, 3 arrive in this order, 1 is reordered; if 3, 2, 1, 0 do, all but 3 are. Over a whole stream,
// a message that came to another consumer counts as a later one only if it had been published when the first of these arrived.
type arrivals struct {
	received Tally // messages that came for the first time, as far as they are published; flush takes them

	// The deliveries that are not published yet.
	ledger     *ledger        // nil if there are none
	word       uint64         // which word of the bitmap: number/64
	published  uint64         // messages of the word that had been published when the first of these arrived: bit i is word·64 + i
	added      [phases]uint64 // those that these deliveries add, by phase
	late       uint64         // those of added that are reordered
	next       uint64         // one past the highest number known to have been received
	duplicated Tally
	first      int64 // when the first of them came, ns on the clock's axis
	last       int64 // when the last of them came
}

// add adds the delivery of message n at now, and reports whether it is the first one of this message, as far as consumers have published
// theirs. nextOfKey is one past the highest number received with the message's key; nil if order is promised over the whole stream.
func (a *arrivals) add(l *ledger, n uint64, nextOfKey *atomic.Uint64, phase Phase, now int64) (isNew bool) {
	if a.ledger != l || a.word != n/64 {
		a.publish()
		a.ledger, a.word, a.published, a.next, a.first = l, n/64, l.seen.word(n), l.next.Load(), now
	}
	a.last = now
	bit := uint64(1) << (n % 64)
	isNew = (a.published|a.addedInAnyPhase())&bit == 0
	if isNew {
		late := n < a.next
		if nextOfKey != nil {
			late = advance(nextOfKey, n)
		}
		if late {
			a.late |= bit
		}
		a.added[phase] |= bit
		a.next = max(a.next, n+1)
	} else {
		a.duplicated[phase]++
	}
	if nextOfKey != nil {
		// Other consumers see the number of the key at once. If they didn't see the message as well, they would take a later copy of it for
		// reordered, not for a duplicate.
		a.publish()
	}
	return isNew
}

// addedInAnyPhase has a bit for each message that these deliveries add.
func (a *arrivals) addedInAnyPhase() uint64 { return a.added[Warmup] | a.added[Measured] }

// flush publishes all deliveries, and returns how many messages came for the first time since the last flush.
func (a *arrivals) flush() (received Tally) {
	a.publish()
	received, a.received = a.received, Tally{}
	return received
}

// publish writes the deliveries into their ledger.
func (a *arrivals) publish() {
	l := a.ledger
	if l == nil {
		return
	}
	// The times come before the messages, so that whoever finds a message (Accounts) finds times as well.
	lower(&l.first, a.first)
	raise(&l.last, a.last)
	if all := a.addedInAnyPhase(); all != 0 {
		// Another consumer may have received the same message meanwhile. Then this delivery is the duplicate.
		before := l.seen.addWord(a.word*64, all)
		var reordered Tally
		for phase, added := range a.added {
			isNew := added &^ before
			a.received[phase] += int64(bits.OnesCount64(isNew))
			reordered[phase] = int64(bits.OnesCount64(isNew & a.late))
			a.duplicated[phase] += int64(bits.OnesCount64(added & before))
		}
		l.reordered.add(reordered)
		advance(&l.next, a.next-1)
	}
	l.duplicated.add(a.duplicated)
	*a = arrivals{received: a.received}
}

// lower sets v to ns unless v is lower already.
func lower(v *atomic.Int64, ns int64) {
	for old := v.Load(); ns < old && !v.CompareAndSwap(old, ns); {
		old = v.Load()
	}
}

// raise sets v to ns unless v is higher already.
func raise(v *atomic.Int64, ns int64) {
	for old := v.Load(); ns > old && !v.CompareAndSwap(old, ns); {
		old = v.Load()
	}
}

// Range is a range of sequence numbers, both ends included.
type Range struct{ First, Last uint64 }

// lost returns how many messages of [from, to) are missing, and how many of those the broker had confirmed.
func (l *ledger) lost(from, to uint64, unconfirmed *bitmap) (lost, confirmed int64) {
	for seq, mask := range wordsOf(from, to) {
		missing := mask &^ l.seen.word(seq)
		lost += int64(bits.OnesCount64(missing))
		confirmed += int64(bits.OnesCount64(missing &^ unconfirmed.word(seq)))
	}
	return lost, confirmed
}

// lostRanges returns the first ranges of missing messages of [from, to), limit of them at most. cut reports whether there are more.
func (l *ledger) lostRanges(from, to uint64, limit int) (ranges []Range, cut bool) {
	for seq, mask := range wordsOf(from, to) {
		missing := bitmapWord{first: seq, members: mask &^ l.seen.word(seq)}
		for n := range missing.numbers() {
			switch {
			case len(ranges) > 0 && ranges[len(ranges)-1].Last+1 == n:
				ranges[len(ranges)-1].Last = n
			case len(ranges) < limit:
				ranges = append(ranges, Range{First: n, Last: n})
			default:
				return ranges, true
			}
		}
	}
	return ranges, false
}
