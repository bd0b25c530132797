package measure

import (
	"math/bits"
	"sync/atomic"
)

// ledger is the account of one stream as one subscription received it. A stream is everything one producer sends;
// its sequence numbers are counted from the start of the trial.
type ledger struct {
	seen bitmap
	next atomic.Uint64 // one past the highest number received
	// keyed holds the same for each key, where the order is promised per key only; made when it is needed.
	keyed      atomic.Pointer[[]atomic.Uint64]
	keys       int
	duplicated [phases]atomic.Int64
	reordered  [phases]atomic.Int64
	// When the first and the last message came, ns on the clock's axis; 0: none did.
	first, last atomic.Int64
}

// nextOf is one past the highest number received with key.
func (l *ledger) nextOf(key int) *atomic.Uint64 {
	keyed := l.keyed.Load()
	if keyed == nil {
		made := make([]atomic.Uint64, l.keys)
		l.keyed.CompareAndSwap(nil, &made) // another consumer of the subscription may have been faster
		keyed = l.keyed.Load()
	}
	return &(*keyed)[key]
}

// run is a row of deliveries of one stream to one consumer, gathered while they fall into one word of the bitmap: in
// order, 64 messages then cost two atomic operations.
type run struct {
	ledger *ledger
	word   uint64         // seq/64
	old    uint64         // members of the word when the run began
	new    [phases]uint64 // members the run adds
	late   uint64         // those of them that came after a later one
	high   uint64         // one past the highest number known to have been received
	twice  [phases]int64  // duplicated
	at     int64          // when it began, ns on the clock's axis
}

// take books the delivery of seq at now and tells whether it was the first of its message. A run of another ledger or word
// must have been published.
func (r *run) take(l *ledger, seq uint64, key int, phase Phase, now int64) bool {
	if r.ledger == nil {
		*r = run{ledger: l, word: seq >> 6, old: l.seen.word(seq &^ 63), high: l.next.Load(), at: now}
	}
	bit := uint64(1) << (seq & 63)
	if (r.old|r.new[Warmup]|r.new[Measured])&bit != 0 {
		r.twice[phase]++
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

// publish writes the run, which ended by now, into its ledger and returns how many messages it added. A message is reordered
// when it arrives after a later one of its stream (RFC 4737, section 3), or of its key where keys carry the order.
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
			r.twice[phase] += int64(bits.OnesCount64(members & before))
			if late := first & r.late; late != 0 {
				l.reordered[phase].Add(int64(bits.OnesCount64(late)))
			}
		}
		for high := l.next.Load(); r.high > high && !l.next.CompareAndSwap(high, r.high); {
			high = l.next.Load()
		}
	}
	if l.first.Load() == 0 {
		l.first.CompareAndSwap(0, r.at)
	}
	for last := l.last.Load(); now > last && !l.last.CompareAndSwap(last, now); {
		last = l.last.Load()
	}
	for phase, n := range r.twice {
		if n > 0 {
			l.duplicated[phase].Add(n)
		}
	}
	*r = run{}
	return added
}

// Range is a run of sequence numbers, both ends included.
type Range struct{ First, Last uint64 }

// lost counts what is missing of [from, to), how much of that the broker had confirmed, and returns the first
// ranges, at most limit of them.
func (l *ledger) lost(from, to uint64, unconfirmed *bitmap, limit int) (lost, acked int64, ranges []Range, cut bool) {
	eachWord(from, to, func(seq, mask uint64) bool {
		missing := ^l.seen.word(seq) & mask
		lost += int64(bits.OnesCount64(missing))
		acked += int64(bits.OnesCount64(missing &^ unconfirmed.word(seq)))
		for missing != 0 {
			n := seq + uint64(bits.TrailingZeros64(missing))
			missing &= missing - 1
			switch {
			case len(ranges) > 0 && ranges[len(ranges)-1].Last+1 == n:
				ranges[len(ranges)-1].Last = n
			case len(ranges) < limit:
				ranges = append(ranges, Range{n, n})
			default:
				cut = true
			}
		}
		return true
	})
	return lost, acked, ranges, cut
}
