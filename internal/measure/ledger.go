package measure

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// ledger records which messages of one stream one subscription received. Several consumers of the subscription write to it at once.
type ledger struct {
	lags       bool                            // its consumers lag behind others (Trial.SetLagging)
	seen       bitmap                          // the numbers received
	next       atomic.Uint64                   // one past the highest number received
	keys       int                             // how many keys there are; 0: order is promised over the whole stream
	nextOfKey  atomic.Pointer[[]atomic.Uint64] // by key: one past the highest number received; nil until a message with a key came
	duplicated atomicTally
	reordered  atomicTally
	first      atomic.Int64 // when the earliest delivery came, ns on the clock's axis; math.MaxInt64 if none did
	last       atomic.Int64 // when the latest came; math.MinInt64 if none did
}

// newLedgers makes the ledgers of a stream, one for each subscription. keys is 0 if order is promised over the whole stream.
func newLedgers(subscriptions, keys int) []ledger {
	ledgers := make([]ledger, subscriptions)
	for i := range ledgers {
		l := &ledgers[i]
		l.keys = keys
		l.first.Store(math.MaxInt64)
		l.last.Store(math.MinInt64)
	}
	return ledgers
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

// lost returns how many messages of [from, to) are missing, and how many of those are not among the unconfirmed ones.
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

// timeTable keeps the intended and sent times of the last messages of a stream whose payloads are too short to carry them. With 1,024
// entries, message 1,024 takes the entry of message 0; if message 0 arrives after that, its times are unknown.
type timeTable struct {
	mask    uint64                      // size − 1; the size is a power of two
	entries atomic.Pointer[[]timeEntry] // made with the first message
}

type timeEntry struct {
	number         atomic.Int64 // the message's number + 1; 0 while the entry is empty or being written
	intended, sent atomic.Int64 // ns
}

// A table has room for the messages in flight and, since messages wait in the broker as well, for preferredEntries, unless all
// tables together would exceed maxAllEntries.
const (
	minEntries       = 64
	preferredEntries = 1024
	maxAllEntries    = 1 << 20
)

func newTimeTable(inFlight, producers int) *timeTable {
	size := minEntries
	for size < inFlight || (size < preferredEntries && size*producers < maxAllEntries) {
		size *= 2
	}
	return &timeTable{mask: uint64(size - 1)}
}

// put keeps the times of message n. Only the goroutine that sends the stream calls it.
func (t *timeTable) put(n uint64, intended, sent int64) {
	entries := t.entries.Load()
	if entries == nil {
		made := make([]timeEntry, t.mask+1)
		entries = &made
		t.entries.Store(entries)
	}
	e := &(*entries)[n&t.mask]
	e.number.Store(0) // a reader between here and the end finds no message
	e.intended.Store(intended)
	e.sent.Store(sent)
	e.number.Store(int64(n) + 1)
}

// look returns the times of message n; ok is false if they are not in the table any more.
func (t *timeTable) look(n uint64) (intended, sent int64, ok bool) {
	entries := t.entries.Load()
	if entries == nil {
		return 0, 0, false
	}
	e := &(*entries)[n&t.mask]
	if e.number.Load() != int64(n)+1 {
		return 0, 0, false
	}
	intended, sent = e.intended.Load(), e.sent.Load()
	return intended, sent, e.number.Load() == int64(n)+1 // otherwise put has reused the entry meanwhile
}
