package hist

// Corrected returns s with values added for the messages that were not sent while a sender waited, as HdrHistogram's
// copyCorrectedForCoordinatedOmission does. For each value v it adds v − interval, v − 2·interval and so on, down to
// interval: at an interval of 10 ms, a latency of 35 ms adds 25 ms and 15 ms. Each value counts as the highest of its
// bucket. If interval is 0, it returns s.
func (s Snapshot) Corrected(interval int64) Snapshot {
	if interval <= 0 || s.max < 2*interval {
		return s
	}
	counts := make([]int64, buckets)
	lo := s.min
	for _, c := range s.cells {
		counts[c.i] += c.n
		v := s.clip(highest(int(c.i)))
		missing := v/interval - 1 // less than 1 where nothing is missing
		lo = min(lo, v-missing*interval)
		for k := int64(1); k <= missing; {
			// All that fall into one bucket at once: long stalls would have millions of them.
			i := index(v - k*interval)
			last := min((v-lowest(i))/interval, missing)
			counts[i] += (last - k + 1) * c.n
			k = last + 1
		}
	}
	out := Snapshot{}
	for i, n := range counts {
		if n > 0 {
			out.cells = append(out.cells, cell{int32(i), n})
		}
	}
	out.recount(lo, s.max)
	return out
}
