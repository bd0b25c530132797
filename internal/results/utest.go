package results

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// mostExact is the number of values on a side up to which the U test counts every deal. Beyond it the statistic is
// close to normal.
const mostExact = 30

// uTest is the two-sided p value of the Mann–Whitney U test: of all ways to deal the pooled values to the two sides,
// twice the share of those whose ranks are at least as far out as the ones seen. Ties share their mean rank. (The
// library's exact test takes the distribution of U for symmetric, which ties undo: its p depends on which side comes
// first.)
func uTest(a, b []float64) float64 {
	if len(a) > mostExact || len(b) > mostExact {
		return benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
	}
	pooled := slices.Concat(a, b)
	slices.Sort(pooled)
	// ways[k][r] counts the choices of k values with twice their ranks summing up to r.
	all := len(pooled) * (len(pooled) + 1)
	ways := make([][]float64, len(a)+1)
	for k := range ways {
		ways[k] = make([]float64, all+1)
	}
	ways[0][0] = 1
	seen := 0
	for i := 0; i < len(pooled); {
		tied := i
		for tied < len(pooled) && pooled[tied] == pooled[i] {
			tied++
		}
		rank := i + 1 + tied // twice the mean of i+1 … tied
		for _, v := range a {
			if v == pooled[i] {
				seen += rank
			}
		}
		for range tied - i {
			for k := len(a); k > 0; k-- {
				for r := all; r >= rank; r-- {
					ways[k][r] += ways[k-1][r-rank]
				}
			}
		}
		i = tied
	}
	below, above, total := 0.0, 0.0, 0.0
	for r, n := range ways[len(a)] {
		total += n
		if r <= seen {
			below += n
		}
		if r >= seen {
			above += n
		}
	}
	return min(1, 2*math.Min(below, above)/total)
}
