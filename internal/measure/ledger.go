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
	keyed       atomic.Pointer[[]atomic.Uint64]
	keys        int // how many keys there are; 0: order is promised over the whole stream
	duplicated  [phases]atomic.Int64
	reordered   [phases]atomic.Int64
	first, last atomic.Int64 // when the first and the last message came, ns on the clock's axis; 0 if none did
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

// run gathers successive deliveries of one stream to one consumer, as long as they fall into one word of the bitmap. Messages that
// come in order then cost two atomic operations for 64 of them. Its zero value is empty.
type run struct {
	ledger     *ledger        // nil if the run is empty
	word       uint64         // index of the word: seq/64
	old        uint64         // members of the word when the run began
	new        [phases]uint64 // members that the run adds
	late       uint64         // those of them that came after a later message
	high       uint64         // one past the highest number known to have been received
	duplicates [phases]int64
	began      int64 // ns on the clock's axis
}

// take adds the delivery of seq at now to the run and reports whether it is the first of its message. A run of another ledger or
// word must have been published before.
func (r *run) take(l *ledger, seq uint64, key int, phase Phase, now int64) bool {
	if r.ledger == nil {
		*r = run{ledger: l, word: seq >> 6, old: l.seen.word(seq &^ 63), high: l.next.Load(), began: now}
	}
	bit := uint64(1) << (seq & 63)
	if (r.old|r.new[Warmup]|r.new[Measured])&bit != 0 {
		r.duplicates[phase]++
		return false
	}
	r.new[phase] |= bit
	if l.keys > 0 && key >= 0 {
		if next := l.nextOf(key); next.Load() > seq {
			r.late |= bit
		} else {
			next.Store(seq + 1)
		}
	} else if seq < r.high {
		r.late |= bit
	}
	r.high = max(r.high, seq+1)
	return true
}

// publish writes the run into its ledger, empties it, and returns how many messages it added. now is when its last delivery came. A
// message counts as reordered if it arrives after a later one of its stream (RFC 4737, section 3), or of its key if order is
// promised per key.
func (r *run) publish(now int64) (added [phases]int64) {
	l := r.ledger
	if l == nil {
		return added
	}
	if all := r.new[Warmup] | r.new[Measured]; all != 0 {
		// Another consumer may have received the same message since the run began: then that one was the first.
		before := l.seen.addWord(r.word<<6, all)
		for phase, members := range r.new {
			first := members &^ before
			added[phase] = int64(bits.OnesCount64(first))
			r.duplicates[phase] += int64(bits.OnesCount64(members & before))
			if late := first & r.late; late != 0 {
				l.reordered[phase].Add(int64(bits.OnesCount64(late)))
			}
		}
		for high := l.next.Load(); r.high > high && !l.next.CompareAndSwap(high, r.high); {
			high = l.next.Load()
		}
	}
	if l.first.Load() == 0 {
		l.first.CompareAndSwap(0, r.began)
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
	return added
}

// Range is a run of sequence numbers, both ends included.
type Range struct{ First, Last uint64 }

// lost returns how many messages of [from, to) are missing, and how many of those the broker had confirmed.
func (l *ledger) lost(from, to uint64, unconfirmed *bitmap) (lost, acked int64) {
	eachWord(from, to, func(seq, mask uint64) bool {
		missing := mask &^ l.seen.word(seq)
		lost += int64(bits.OnesCount64(missing))
		acked += int64(bits.OnesCount64(missing &^ unconfirmed.word(seq)))
		return true
	})
	return lost, acked
}

// lostRanges returns the first ranges of missing messages of [from, to), limit of them at most. cut reports whether there are more.
func (l *ledger) lostRanges(from, to uint64, limit int) (ranges []Range, cut bool) {
	eachWord(from, to, func(seq, mask uint64) bool {
		for missing := mask &^ l.seen.word(seq); missing != 0; missing &= missing - 1 { // that clears the lowest bit
			n := seq + uint64(bits.TrailingZeros64(missing))
			switch {
			case len(ranges) > 0 && ranges[len(ranges)-1].Last+1 == n:
				ranges[len(ranges)-1].Last = n
			case len(ranges) < limit:
				ranges = append(ranges, Range{n, n})
			default:
				cut = true
				return false
			}
		}
		return true
	})
	return ranges, cut
}
