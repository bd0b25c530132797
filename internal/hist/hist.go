// Package hist has a histogram for the hot path: fixed buckets, lock-free recording, exact merging. It doesn't know what its
// values mean.
//
// For example, 1,000,000 ns falls into the bucket from 999,424 to 1,001,471 ns. Quantile reports the highest value of a
// bucket, so it is at most 1/256 above the true one and never below it. Merging two histograms adds their counts bucket by
// bucket, which is the same as having recorded all values in one.
package hist

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// Buckets are log-linear: one per nanosecond below 512, then 256 in every octave, so a bucket is never wider than
// 1/256 of its lowest value. The last bucket, overflow, takes everything from Limit up.
//
//	shift = max(0, bits(v) − 9)      index = shift·256 + v>>shift
const (
	octaveBits = 8
	perOctave  = 1 << octaveBits
	limitBits  = 42
	overflow   = (limitBits - octaveBits + 1) * perOctave // index of the last bucket
	numBuckets = overflow + 1
)

// Limit is the lowest value of the last bucket, in nanoseconds: 73 minutes. Values from Limit on are not told apart: they
// count as Limit in the mean, and as Max in quantiles. Max stays exact.
const Limit = int64(1) << limitBits

// Histogram counts nanosecond values. Its zero value is ready to use; it must not be copied. It takes 70 KiB.
type Histogram struct {
	// inverseMin is math.MaxInt64 − minimum: like max it only ever rises, and 0 means that there is no value yet.
	inverseMin, max atomic.Int64
	counts          [numBuckets]atomic.Int64
	censored        atomic.Pointer[Histogram] // those of the values that are lower bounds; nil: none is
}

// New makes an empty histogram.
func New() *Histogram { return new(Histogram) }

// Record counts one value; a negative one counts as 0. It may be called from any goroutine, takes no lock and
// allocates nothing.
func (h *Histogram) Record(ns int64) { h.RecordN(ns, 1) }

// RecordN counts the value ns n times; not at all if n is 0 or less. A negative value counts as 0.
func (h *Histogram) RecordN(ns, n int64) {
	if n <= 0 {
		return
	}
	ns = max(ns, 0)
	h.widen(ns, ns)
	// The only locked instruction: a second one for an exact sum would double the cost of Record.
	h.counts[index(ns)].Add(n)
}

// RecordCensored counts, n times, a value of which only a lower bound is known, ns: how long a message was waited for in
// vain. For quantiles it stands at that bound, and Snapshot.QuantileAtMost knows that it may be any higher value. The first
// call allocates memory.
func (h *Histogram) RecordCensored(ns, n int64) {
	if n <= 0 {
		return
	}
	h.RecordN(ns, n)
	h.ofCensored().RecordN(ns, n)
}

// ofCensored returns the histogram of censored values, and makes it if there is none.
func (h *Histogram) ofCensored() *Histogram {
	if c := h.censored.Load(); c != nil {
		return c
	}
	h.censored.CompareAndSwap(nil, New()) // another goroutine may be faster
	return h.censored.Load()
}

// Snapshot returns a frozen copy. It may run beside Record; a value that is recorded meanwhile may or may not be in it.
func (h *Histogram) Snapshot() Snapshot {
	var s Snapshot
	h.SnapshotInto(&s)
	return s
}

// SnapshotInto is like Snapshot, but reuses the memory of s. Copies of s share that memory and become invalid.
func (h *Histogram) SnapshotInto(s *Snapshot) {
	*s = Snapshot{buckets: s.buckets[:0], censored: s.censored[:0]}
	lo, hi, ok := h.extremes()
	if !ok {
		return
	}
	if c := h.censored.Load(); c != nil { // first: each of them is among all values
		s.censored = c.appendBuckets(s.censored)
	}
	s.buckets = h.appendBuckets(s.buckets)
	s.recount(lo, hi)
}

// appendBuckets appends the buckets to none.
func (h *Histogram) appendBuckets(to buckets) buckets {
	lo, hi, ok := h.extremes()
	if !ok {
		return to
	}
	all := packer{packed: to}
	for i := index(lo); i <= index(hi); i++ {
		all.add(i, h.counts[i].Load())
	}
	return all.packed
}

// Totals returns the number of values and the sum of the middles of their buckets. The difference between two readings
// belongs to the values recorded meanwhile. Totals allocates nothing and is much cheaper than a Snapshot.
func (h *Histogram) Totals() (n int64, sum float64) {
	lo, hi, ok := h.extremes()
	if !ok {
		return 0, 0
	}
	for i := index(lo); i <= index(hi); i++ {
		if c := h.counts[i].Load(); c > 0 {
			n, sum = n+c, sum+float64(c)*middle(i)
		}
	}
	return n, sum
}

// extremes returns the smallest and the largest value; ok is false if there is none.
func (h *Histogram) extremes() (lo, hi int64, ok bool) {
	lo, hi = math.MaxInt64-h.inverseMin.Load(), h.max.Load()
	return lo, hi, lo <= hi
}

// widen moves the extremes apart to include lo and hi.
func (h *Histogram) widen(lo, hi int64) {
	if hi > h.max.Load() || math.MaxInt64-lo > h.inverseMin.Load() {
		raise(&h.max, hi)
		raise(&h.inverseMin, math.MaxInt64-lo)
	}
}

// raise sets v to a value if that is higher. It never lowers v, also if other goroutines raise it at once.
func raise(v *atomic.Int64, to int64) {
	for old := v.Load(); to > old; old = v.Load() {
		if v.CompareAndSwap(old, to) {
			return
		}
	}
}

// index returns the bucket of a value that is not negative.
func index(ns int64) int {
	if ns >= Limit {
		return overflow
	}
	shift := max(0, bits.Len64(uint64(ns))-octaveBits-1)
	return shift<<octaveBits + int(ns>>shift)
}

// lowest returns the lowest value of bucket i.
func lowest(i int) int64 {
	if i < 2*perOctave {
		return int64(i)
	}
	shift := i>>octaveBits - 1
	return int64(i-shift<<octaveBits) << shift
}

// highest returns the highest value of bucket i.
func highest(i int) int64 {
	if i == overflow {
		return math.MaxInt64
	}
	return lowest(i+1) - 1
}

// middle stands for the values of a bucket in means; of the last bucket it is Limit.
func middle(i int) float64 {
	if i == overflow {
		return float64(Limit)
	}
	return float64(lowest(i)) + float64(highest(i)-lowest(i))/2
}

// Batch gathers the values of one goroutine before they are published. Messages that travel together mostly fall into the
// same bucket, and one atomic addition then serves them all. Its zero value is empty.
type Batch struct {
	index  int   // of the bucket; that of the last value once the batch is empty
	n      int64 // how many values
	lo, hi int64 // the smallest and the largest value of the bucket, published ones included
	last   int64 // the last value, which many messages of one batch share
}

// Add records a value in b, and publishes what b held if it was of another bucket. All values are in the histogram after
// the next Flush of b. A batch belongs to one histogram for good.
func (h *Histogram) Add(b *Batch, ns int64) {
	if ns != b.last { // this short, the compiler inlines it
		h.turn(b, ns)
	}
	b.n++
}

// turn makes a value the last one of b.
func (h *Histogram) turn(b *Batch, ns int64) {
	ns = max(ns, 0)
	if i := index(ns); i != b.index {
		h.Flush(b)
		*b = Batch{index: i, lo: ns, hi: ns}
	}
	b.lo, b.hi, b.last = min(b.lo, ns), max(b.hi, ns), ns
}

// Flush publishes the values of b and empties it.
func (h *Histogram) Flush(b *Batch) {
	if b.n == 0 {
		return
	}
	h.widen(b.lo, b.hi)
	h.counts[b.index].Add(b.n)
	b.n = 0
}

// Grow records the values that another histogram recorded between two snapshots of it, to the precision of their buckets.
// The extremes of now are taken as theirs.
func (h *Histogram) Grow(before, now Snapshot) {
	if now.n == before.n {
		return
	}
	h.widen(now.min, now.max)
	for b := now.buckets.less(before.buckets).first(); b.ok; b.next() {
		h.counts[b.index].Add(b.count)
	}
	for b := now.censored.less(before.censored).first(); b.ok; b.next() {
		c := h.ofCensored()
		c.widen(lowest(b.index), lowest(b.index))
		c.counts[b.index].Add(b.count)
	}
}
