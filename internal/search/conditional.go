package search

import (
	"cmp"
	"slices"
	"time"
)

// served is what came through in one long trial (Answer.Served).
type served struct {
	rate   float64 // messages per second
	length time.Duration
}

// conditional returns MLRsearch's conditional throughput of a lower bound: the least rate that came through in its long trials,
// once the worst share ExceedRatio of the time is left out. Time of DurationSum that the decision did not need counts as time in
// which nothing came through. It returns 0 if the trials are too few to fill the other share.
//
// For example, with an ExceedRatio of 0.5 and a DurationSum of 120 s, the worst 60 s are left out. Of trials of 30 s
// that brought 900, 1,000 and 990/s through, the best two fill the other 60 s: the conditional throughput is 990/s.
func (g Goal) conditional(trials []served) float64 {
	var measured time.Duration
	for _, t := range trials {
		measured += t.length
	}
	whole := max(g.DurationSum, measured)
	toFill := whole - g.mayBeBad(whole) // with the best trials
	bestFirst := slices.SortedFunc(slices.Values(trials), func(a, b served) int { return cmp.Compare(b.rate, a.rate) })
	for _, t := range bestFirst {
		toFill -= t.length
		if toFill <= 0 {
			return t.rate
		}
	}
	return 0
}
