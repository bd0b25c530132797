package measure

import (
	"math/bits"
	"sync/atomic"
)

// ledger records which messages of one stream one subscription received. A stream is everything that one producer sends; its
// messages are numbered from 0 in each trial. Several consumers of the subscription write to it at once.
type ledger struct {
	seen bitmap        // the numbers received
	next atomic.Uint64 // one past the highest number received
	// keyed is next for each key, if order is promised per key only. It is made with the first message that has a key.
	keyed      atomic.Pointer[[]atomic.Uint64]
	keys       int // how many keys there are; 0: order is promised over the whole stream
	duplicated [phases]atomic.Int64
	reordered  [phases]atomic.Int64
	first      atomic.Int64 // when the earliest delivery came, ns on the clock's axis; math.MaxInt64 if none did
	last       atomic.Int64 // when the latest came; math.MinInt64 if none did
}

// nextOf returns one past the highest number received with a key.
func (l *ledger) nextOf(key int) *atomic.Uint64 {
	keyed := l.keyed.Load()
	if keyed == nil {
		made := make([]atomic.Uint64, l.keys)
		l.keyed.CompareAndSwap(nil, &made) // another consumer of the subscription may have been faster
		keyed = l.keyed.Load()
	}
	return &(*keyed)[key]
}

// run gathers successive deliveries of one stream to one consumer, as long as they fall into the same word of the bitmap. Messages that
// come in order then cost two atomic operations for 64 of them. Its zero value is empty.
type run struct {
	ledger     *ledger        // nil if the run is empty
	word       uint64         // index of the word: seq/64
	old        uint64         // members of the word when the run began
	added      [phases]uint64 // members that the run adds
	late       uint64         // those of them that came after a later message
	high       uint64         // one past the highest number known to have been received
	duplicates Tally
	began      int64 // when its first delivery came, ns on the clock's axis
}

// take adds the delivery of seq at now to the run and reports whether it is the first of its message. keyNext is one past the highest
// number received with the message's key; nil if order is promised over the whole stream. A run of another ledger or word must have
// been published before.
func (r *run) take(l *ledger, seq uint64, keyNext *atomic.Uint64, phase Phase, now int64) (first bool) {
	if r.ledger == nil {
		*r = run{ledger: l, word: seq >> 6, old: l.seen.word(seq &^ 63), high: l.next.Load(), began: now}
	}
	bit := uint64(1) << (seq & 63)
	if (r.old|r.added[Warmup]|r.added[Measured])&bit != 0 {
		r.duplicates[phase]++
		return false
	}
	r.added[phase] |= bit
	switch {
	case keyNext == nil:
		if seq < r.high {
			r.late |= bit
		}
	case seq < keyNext.Load():
		r.late |= bit
	default:
		keyNext.Store(seq + 1)
	}
	r.high = max(r.high, seq+1)
	return true
}

// publish writes the run into its ledger, empties it, and returns how many messages it has received for the first time. now is when its
// last delivery came. A message counts as reordered if it arrives after a later one of its stream (RFC 4737, section 3), or of its key
// if order is promised per key.
func (r *run) publish(now int64) (received Tally) {
	l := r.ledger
	if l == nil {
		return received
	}
	if all := r.added[Warmup] | r.added[Measured]; all != 0 {
		// Another consumer may have received the same message since the run began. Then this delivery is the duplicate.
		before := l.seen.addWord(r.word<<6, all)
		for phase, members := range r.added {
			first := members &^ before
			received[phase] = int64(bits.OnesCount64(first))
			r.duplicates[phase] += int64(bits.OnesCount64(members & before))
			if late := first & r.late; late != 0 {
				l.reordered[phase].Add(int64(bits.OnesCount64(late)))
			}
		}
		for high := l.next.Load(); r.high > high && !l.next.CompareAndSwap(high, r.high); {
			high = l.next.Load()
		}
	}
	for first := l.first.Load(); r.began < first && !l.first.CompareAndSwap(first, r.began); {
		first = l.first.Load()
	}
	for last := l.last.Load(); now > last && !l.last.CompareAndSwap(last, now); {
		last = l.last.Load()
	}
	for phase, n := range r.duplicates {
		if n > 0 {
			l.duplicated[phase].Add(n)
		}
	}
	*r = run{}
	return received
}

// Range is a range of sequence numbers, both ends included.
type Range struct{ First, Last uint64 }

// lost returns how many messages of [from, to) are missing, and how many of those the broker had confirmed.
func (l *ledger) lost(from, to uint64, unconfirmed *bitmap) (lost, acked int64) {
	for seq, mask := range wordsOf(from, to) {
		missing := mask &^ l.seen.word(seq)
		lost += int64(bits.OnesCount64(missing))
		acked += int64(bits.OnesCount64(missing &^ unconfirmed.word(seq)))
	}
	return lost, acked
}

// lostRanges returns the first ranges of missing messages of [from, to), limit of them at most. cut reports whether there are more.
func (l *ledger) lostRanges(from, to uint64, limit int) (ranges []Range, cut bool) {
	for seq, mask := range wordsOf(from, to) {
		for missing := mask &^ l.seen.word(seq); missing != 0; missing &= missing - 1 { // clears the lowest bit
			n := seq + uint64(bits.TrailingZeros64(missing))
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
