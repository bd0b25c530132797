package hist

import "math"

// Snapshot is a frozen histogram. The zero value is an empty one. Copies share memory, which no method changes; only
// Histogram.SnapshotInto and UnmarshalJSON write to their target.
type Snapshot struct {
	buckets  buckets
	n        int64 // how many values they hold
	min, max int64
	censored buckets // the values among them that are lower bounds
}

// Count returns the number of values.
func (s Snapshot) Count() int64 { return s.n }

// Censored returns how many of the values are lower bounds: of messages that never came, how long they were waited for.
func (s Snapshot) Censored() int64 { return s.censored.count() }

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
	for b := s.buckets.first(); b.ok; b.next() {
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
	b := s.buckets.ranked(s.rank(q))
	if len(b.left) == 0 {
		return s.max // the highest value of the last bucket is known exactly
	}
	return s.clip(highest(b.index))
}

// Unbounded is what QuantileAtMost returns if the quantile may have any value.
const Unbounded = int64(math.MaxInt64)

// QuantileAtMost returns the most that the quantile q may be, in nanoseconds, given that a censored value may be any value above its
// bound; Quantile returns the least. Without censored values the two are equal. With 90 values of 1 ms and 10 that are at least
// 5 s, the median is from 1 to 1 ms, and the quantile 0.95 from 5 s to Unbounded.
func (s Snapshot) QuantileAtMost(q float64) int64 {
	if len(s.censored) == 0 {
		return s.Quantile(q)
	}
	known := s.buckets.less(s.censored)
	rank := s.rank(q)
	if rank > known.count() {
		return Unbounded
	}
	bucket := known.ranked(rank).index
	if bucket == s.buckets.ranked(rank).index {
		return s.Quantile(q) // both lie in one bucket, so their difference is not known
	}
	return s.clip(highest(bucket))
}

// rank returns the rank of the value at quantile q: ceil(q·n), from 1 to n.
func (s Snapshot) rank(q float64) int64 {
	// One ulp less, as HdrHistogram does: 0.07·100 is a hair above 7 and must not become rank 8.
	rank := int64(math.Ceil(math.Nextafter(min(q, 1), 0) * float64(s.n)))
	return max(1, min(rank, s.n))
}

// CountAbove returns the number of values above ns. Each counts as the value that Quantile would report.
func (s Snapshot) CountAbove(ns int64) int64 {
	var n int64
	for b := s.buckets.first(); b.ok; b.next() {
		if s.clip(highest(b.index)) > ns {
			n += b.count
		}
	}
	return n
}

// Buckets calls f for every bucket that is not empty, in rising order, until f returns false. The values of a bucket lie in
// lowest..highest, both inclusive. The bucket of everything from Limit up ends at Max.
func (s Snapshot) Buckets(f func(lowest, highest, count int64) bool) {
	for b := s.buckets.first(); b.ok; b.next() {
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
	out := Snapshot{buckets: s.buckets.plus(other.buckets), censored: s.censored.plus(other.censored)}
	out.recount(min(s.min, other.min), max(s.max, other.max))
	return out
}

// Sub returns the values that were recorded after earlier, an older snapshot of the same histogram. Their extremes are known
// only to the edges of their buckets. A bucket that holds more values in earlier counts as empty.
func (s Snapshot) Sub(earlier Snapshot) Snapshot {
	out := Snapshot{buckets: s.buckets.less(earlier.buckets), censored: s.censored.less(earlier.censored)}
	out.recount(s.min, s.max)
	return out
}

// recount sets the number of values to that in the buckets, and the extremes to lo and hi as far as the buckets allow. A snapshot
// that is taken beside Record may have read an extreme whose value is in no bucket yet.
func (s *Snapshot) recount(lo, hi int64) { s.span(s.buckets.extent(), lo, hi) }

func (s *Snapshot) span(e extent, lo, hi int64) {
	s.n, s.min, s.max = e.n, 0, 0
	if len(s.buckets) == 0 {
		return
	}
	s.max = min(max(hi, lowest(e.last)), highest(e.last))
	s.min = min(max(lo, lowest(e.first)), highest(e.first), s.max)
}

// clip returns ns, or the nearer of Min and Max if ns is beyond them.
func (s Snapshot) clip(ns int64) int64 { return min(max(ns, s.min), s.max) }

// Corrected returns s with values added for the messages that a sender omitted while it waited, as HdrHistogram's
// copyCorrectedForCoordinatedOmission does. interval is the time between two sends, in ns. For each value v it adds
// v − interval, v − 2·interval and so on, down to interval: at an interval of 10 ms, a latency of 35 ms adds 25 ms and
// 15 ms. Each value counts as the highest of its bucket. If interval is not positive, Corrected returns s.
func (s Snapshot) Corrected(interval int64) Snapshot {
	if interval <= 0 || s.max < 2*interval {
		return s
	}
	counts := make([]int64, numBuckets)
	lo := s.min
	for b := s.buckets.first(); b.ok; b.next() {
		counts[b.index] += b.count
		v := s.clip(highest(b.index))
		missing := v/interval - 1 // how many values to add; none if below 1
		lo = min(lo, v-missing*interval)
		for k := int64(1); k <= missing; {
			// Count those of one bucket at once, because a long stall adds millions of values.
			i := index(v - k*interval)
			last := min((v-lowest(i))/interval, missing)
			counts[i] += (last - k + 1) * b.count
			k = last + 1
		}
	}
	var all packer
	for i, n := range counts {
		all.add(i, n)
	}
	out := Snapshot{buckets: all.packed}
	out.recount(lo, s.max)
	return out
}

// Quantiles returns a quantile of some values, in nanoseconds, for a share of them from 0 to 1. Snapshot.Quantile is one.
type Quantiles func(q float64) int64

// Without returns lower bounds of the quantiles that values would have without a delay that is part of each of them. The delays are known
// as a distribution only, and not which value contains which. Each delay may be in up to times as many values as its count says, and no
// delay is longer than longest, ns. Without delays, the bounds are the values' own quantiles.
//
// If a share c of the values contains more than d of delay, the others lose at most d each. So the quantile q without delays is at least
// the quantile q−c of the values, less d. For example, the p99 of latencies is 60 ms and their p98 is 58 ms. If 1 % of the delays are longer
// than 3 ms, the p99 without them is at least 55 ms. Each d gives such a bound, and the highest one holds. No higher one follows from two
// distributions alone (Makarov, Theory of Probability and its Applications 26, 1981; Frank, Nelsen and Schweizer, Probability Theory and
// Related Fields 74, 1987). Only shares c that are powers of 1/2 are tried, so a bound may be lower than necessary, and never too high.
func (values Quantiles) Without(delays Snapshot, times float64, longest int64) Quantiles {
	if delays.Count() == 0 && longest == 0 {
		return values
	}
	type delay struct {
		share float64 // of the values that contain more than ns
		ns    int64
	}
	candidates := []delay{{0, max(delays.Max(), longest)}}
	for share := 0.5; delays.Count() > 0 && share*float64(delays.Count()) >= 1; share /= 2 {
		ns := delays.Quantile(1 - share)
		above := times * float64(delays.CountAbove(ns)) / float64(delays.Count())
		candidates = append(candidates, delay{above, ns})
	}
	return func(q float64) int64 {
		var highest int64
		for _, d := range candidates {
			if q >= d.share {
				highest = max(highest, values(q-d.share)-d.ns)
			}
		}
		return highest
	}
}
