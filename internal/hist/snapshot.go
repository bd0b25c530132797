package hist

import (
	"iter"
	"math"
	"slices"
	"sort"
)

// Snapshot is a frozen histogram. The zero value is an empty one. Copies share memory, which no method changes; only
// Histogram.SnapshotInto and UnmarshalJSON write to their target.
type Snapshot struct {
	cells    []cell // by rising index, counts above 0
	n        int64
	min, max int64
}

// cell is a bucket that is not empty.
type cell struct {
	i int32 // index of the bucket
	n int64 // how many values it holds
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
// bucket, within Min and Max, as in HdrHistogram's getMean. So the mean is at most 1/512 off that of the values themselves.
func (s Snapshot) Mean() float64 {
	if s.n == 0 {
		return 0
	}
	var sum float64
	for _, c := range s.cells {
		sum += float64(c.n) * min(max(middle(int(c.i)), float64(s.min)), float64(s.max))
	}
	return sum / float64(s.n)
}

// Quantile returns the value, in nanoseconds, that the share q of all values doesn't exceed; 0 if the snapshot is empty. It
// is the highest value that the bucket can hold: at most 1/256 above the true one, and within the exact Min and Max. The
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
	for _, c := range s.cells[:len(s.cells)-1] {
		if rank -= c.n; rank <= 0 {
			return s.clip(highest(int(c.i)))
		}
	}
	return s.max // the rank lies in the last bucket, whose highest value is known exactly
}

// CountAbove returns the number of values above ns. Each counts as the value that Quantile would report.
func (s Snapshot) CountAbove(ns int64) int64 {
	first := sort.Search(len(s.cells), func(k int) bool { return s.clip(highest(int(s.cells[k].i))) > ns })
	var n int64
	for _, c := range s.cells[first:] {
		n += c.n
	}
	return n
}

// Buckets calls f for every bucket that is not empty, in rising order, until f returns false. The values of a bucket lie in
// lowest..highest, both inclusive. The bucket of everything from Limit up ends at Max.
func (s Snapshot) Buckets(f func(lowest, highest, count int64) bool) {
	for _, c := range s.cells {
		hi := highest(int(c.i))
		if c.i == overflow {
			hi = s.max
		}
		if !f(lowest(int(c.i)), hi, c.n) {
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
	out := Snapshot{cells: make([]cell, 0, max(len(s.cells), len(other.cells))+8)}
	a, b := s.cells, other.cells
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].i < b[0].i:
			out.cells, a = append(out.cells, a[0]), a[1:]
		case b[0].i < a[0].i:
			out.cells, b = append(out.cells, b[0]), b[1:]
		default:
			out.cells = append(out.cells, cell{i: a[0].i, n: a[0].n + b[0].n})
			a, b = a[1:], b[1:]
		}
	}
	out.cells = append(append(out.cells, a...), b...) // the rest; a or b is empty
	out.recount(min(s.min, other.min), max(s.max, other.max))
	return out
}

// since yields the buckets that hold more values than in earlier, with the number of values added since.
func (s Snapshot) since(earlier Snapshot) iter.Seq[cell] {
	return func(yield func(cell) bool) {
		old := earlier.cells
		for _, c := range s.cells {
			for len(old) > 0 && old[0].i < c.i {
				old = old[1:]
			}
			if len(old) > 0 && old[0].i == c.i {
				c.n -= old[0].n
			}
			if c.n > 0 && !yield(c) {
				return
			}
		}
	}
}

// Sub returns the values that were recorded after earlier, an older snapshot of the same histogram. Their extremes are known
// only to the edges of their buckets. A bucket that holds more values in earlier counts as empty.
func (s Snapshot) Sub(earlier Snapshot) Snapshot {
	if earlier.n == 0 {
		return s
	}
	out := Snapshot{cells: slices.Collect(s.since(earlier))}
	out.recount(s.min, s.max)
	return out
}

// recount sets the number of values to that in the cells, and the extremes to lo and hi as far as the cells allow. A snapshot
// that is taken beside Record may have read an extreme whose value is in no cell yet.
func (s *Snapshot) recount(lo, hi int64) {
	s.n, s.min, s.max = 0, 0, 0
	if len(s.cells) == 0 {
		return
	}
	for _, c := range s.cells {
		s.n += c.n
	}
	first, last := int(s.cells[0].i), int(s.cells[len(s.cells)-1].i)
	s.max = min(max(hi, lowest(last)), highest(last))
	s.min = min(max(lo, lowest(first)), highest(first), s.max)
}

// clip returns ns, or the nearer of Min and Max if ns is beyond them.
func (s Snapshot) clip(ns int64) int64 { return min(max(ns, s.min), s.max) }
