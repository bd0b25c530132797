package hist

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
