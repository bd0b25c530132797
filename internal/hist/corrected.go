package hist

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
