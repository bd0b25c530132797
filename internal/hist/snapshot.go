package hist

import (
	"math"
	"sort"
)

// Snapshot is a frozen histogram. The zero value is an empty one. Copies share memory, which no method changes; only
// Histogram.SnapshotInto and UnmarshalJSON write to their target.
type Snapshot struct {
	buckets  []bucket // those that are not empty, by rising index
	n        int64
	min, max int64
}

type bucket struct {
	index int
	count int64 // how many values it holds
}

// Count returns the number of values.
func (s Snapshot) Count() int64 { return s.n }

// IsZero reports whether the snapshot is empty. JSON fields with omitzero ask it.
func (s Snapshot) IsZero() bool { return s.n == 0 }

// Min returns the smallest value, in nanoseconds; 0 if the snapshot is empty.
func (s Snapshot) Min() int64 { return s.min }

// Max returns the largest value, in nanoseconds; 0 if the snapshot is empty.
func (s Snapshot) Max() int64 { return s.max }

// Mean returns the arithmetic mean in nanoseconds; 0 if the snapshot is empty. Each value counts as the middle of its
// bucket, within Min and Max, as in HdrHistogram's getMean. So the mean is at most 1/512 off that of the values themselves, if all are below Limit.
func (s Snapshot) Mean() float64 {
	if s.n == 0 {
		return 0
	}
	var sum float64
	for _, b := range s.buckets {
		sum += float64(b.count) * min(max(middle(b.index), float64(s.min)), float64(s.max))
	}
	return sum / float64(s.n)
}

// Quantile returns the value, in nanoseconds, that the share q of all values doesn't exceed; 0 if the snapshot is empty. It
// is the highest value that the bucket can hold: below Limit at most 1/256 above the true one, and within the exact Min and Max. The
// rank is ceil(q·n), at least 1, as in HdrHistogram's getValueAtPercentile.
func (s Snapshot) Quantile(q float64) int64 {
	switch {
	case !(q > 0):
		return s.min
	case q >= 1 || s.n == 0:
		return s.max
	}
	// One ulp less, as HdrHistogram does: 0.07·100 is a hair above 7 and must not become rank 8.
	rank := int64(math.Ceil(math.Nextafter(q, 0) * float64(s.n)))
	for _, b := range s.buckets[:len(s.buckets)-1] {
		if rank -= b.count; rank <= 0 {
			return s.clip(highest(b.index))
		}
	}
	return s.max // the rank lies in the last bucket, whose highest value is known exactly
}

// CountAbove returns the number of values above ns. Each counts as the value that Quantile would report.
func (s Snapshot) CountAbove(ns int64) int64 {
	first := sort.Search(len(s.buckets), func(k int) bool { return s.clip(highest(s.buckets[k].index)) > ns })
	var n int64
	for _, b := range s.buckets[first:] {
		n += b.count
	}
	return n
}

// Buckets calls f for every bucket that is not empty, in rising order, until f returns false. The values of a bucket lie in
// lowest..highest, both inclusive. The bucket of everything from Limit up ends at Max.
func (s Snapshot) Buckets(f func(lowest, highest, count int64) bool) {
	for _, b := range s.buckets {
		hi := highest(b.index)
		if b.index == overflow {
			hi = s.max
		}
		if !f(lowest(b.index), hi, b.count) {
			return
		}
	}
}

// Merge returns what one histogram would hold if the values of both had been recorded in it.
func (s Snapshot) Merge(other Snapshot) Snapshot {
	switch {
	case s.n == 0:
		return other
	case other.n == 0:
		return s
	}
	a, b := s.buckets, other.buckets
	merged := make([]bucket, 0, max(len(a), len(b))+8)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].index < b[0].index:
			merged, a = append(merged, a[0]), a[1:]
		case b[0].index < a[0].index:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged = append(merged, bucket{index: a[0].index, count: a[0].count + b[0].count})
			a, b = a[1:], b[1:]
		}
	}
	merged = append(append(merged, a...), b...) // the rest; a or b is empty
	out := Snapshot{buckets: merged}
	out.recount(min(s.min, other.min), max(s.max, other.max))
	return out
}

// since returns the buckets that hold more values than in earlier, with the number of values added since.
func (s Snapshot) since(earlier Snapshot) []bucket {
	if earlier.n == 0 {
		return s.buckets
	}
	var added []bucket
	old := earlier.buckets
	for _, b := range s.buckets {
		for len(old) > 0 && old[0].index < b.index {
			old = old[1:]
		}
		if len(old) > 0 && old[0].index == b.index {
			b.count -= old[0].count
		}
		if b.count > 0 {
			added = append(added, b)
		}
	}
	return added
}

// Sub returns the values that were recorded after earlier, an older snapshot of the same histogram. Their extremes are known
// only to the edges of their buckets. A bucket that holds more values in earlier counts as empty.
func (s Snapshot) Sub(earlier Snapshot) Snapshot {
	out := Snapshot{buckets: s.since(earlier)}
	out.recount(s.min, s.max)
	return out
}

// recount sets the number of values to that in the buckets, and the extremes to lo and hi as far as the buckets allow. A snapshot
// that is taken beside Record may have read an extreme whose value is in no bucket yet.
func (s *Snapshot) recount(lo, hi int64) {
	s.n, s.min, s.max = 0, 0, 0
	if len(s.buckets) == 0 {
		return
	}
	for _, b := range s.buckets {
		s.n += b.count
	}
	first, last := s.buckets[0].index, s.buckets[len(s.buckets)-1].index
	s.max = min(max(hi, lowest(last)), highest(last))
	s.min = min(max(lo, lowest(first)), highest(first), s.max)
}

// clip returns ns, or the nearer of Min and Max if ns is beyond them.
func (s Snapshot) clip(ns int64) int64 { return min(max(ns, s.min), s.max) }
