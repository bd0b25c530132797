package results

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// maxExact is the largest product of the number of all values and that of the smaller sample for which the U test counts
// every split of the values; the work grows with its square. Two samples of 30 values reach it, and so do one of 2 and one
// of 898. Beyond it the library's test is used, which is exact for up to 50 values without equal ones, and takes U for
// normal otherwise.
const maxExact = 60 * 30

// uTest is the two-sided p value of the Mann–Whitney U test (Mann and Whitney, Annals of Mathematical Statistics 18, 1947).
// Neither sample may be empty.
//
// If both samples came from one distribution, every split of the pooled values into samples of these sizes would be equally
// likely. The p value is twice the share of splits in which a's ranks have at most the sum that they have here, or at least
// that sum, whichever share is smaller. For a = 10, 11 and b = 12, 13 the ranks of a are 1 and 2; no other of the 6 splits
// has a sum as small, so p is 2/6.
//
// The library's exact test isn't used: it takes the distribution of U for symmetric, which it isn't with equal values, so
// its p would depend on which sample comes first.
func uTest(a, b []float64) float64 {
	if len(a) > len(b) { // it is the same test, and less work
		a, b = b, a
	}
	if (len(a)+len(b))*len(a) > maxExact {
		return benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
	}
	pooled := slices.Concat(a, b)
	slices.Sort(pooled)
	ranks := twiceRanks(pooled)
	sumOfA := 0 // twice the sum of a's ranks
	for _, v := range a {
		i, _ := slices.BinarySearch(pooled, v)
		sumOfA += ranks[i]
	}
	var atMost, atLeast, all float64
	for sum, splits := range splitsBySum(ranks, len(a)) {
		all += splits
		if sum <= sumOfA {
			atMost += splits
		}
		if sum >= sumOfA {
			atLeast += splits
		}
	}
	return min(1, 2*min(atMost, atLeast)/all)
}

// twiceRanks gives twice the rank of each of the sorted values, which is a whole number: equal values share the mean of
// their ranks. Of 7, 9, 9 it gives 2, 5, 5.
func twiceRanks(sorted []float64) []int {
	ranks := make([]int, len(sorted))
	for first := 0; first < len(sorted); {
		end := first
		for end < len(sorted) && sorted[end] == sorted[first] {
			end++
		}
		for i := first; i < end; i++ {
			ranks[i] = (first + 1) + end // the ranks are first+1 … end
		}
		first = end
	}
	return ranks
}

// splitsBySum counts the splits in which a sample has n of the sorted ranks, by the sum of these: of the ranks 2, 5, 5 two
// can be chosen in two ways with the sum 7, and in one way with the sum 10. The counts are floats, because they may be
// larger than any integer; the p value doesn't need their last digits.
//
// After the first i ranks, ways[k][s] is the number of ways to choose k of them with the sum s. The next rank r adds
// ways[k-1][s-r] to it; k goes down, so that a rank isn't chosen twice.
func splitsBySum(ranks []int, n int) []float64 {
	largest := 0 // sum of n ranks
	for _, r := range ranks[len(ranks)-n:] {
		largest += r
	}
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, largest+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for k := n; k > 0; k-- {
			for s := largest; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	return ways[n]
}

// smallestP is the p value of the clearest outcome that the U test of n1 and n2 values can have: all of one sample lies
// above all of the other. Two of all splits of the n1+n2 values are as clear as that:
//
//	2 / (n1+n2 choose n1)
//
// With 3 values in each sample it is 2/20 = 10 %, with 4 it is 2/70 = 2.9 %. It is 1 without values.
func smallestP(n1, n2 int) float64 {
	splits := 1.0
	for i := 1; i <= n1; i++ {
		splits *= float64(n2+i) / float64(i)
	}
	return min(1, 2/splits)
}

// canShow tells whether a U test of n1 and n2 values can show a difference if it is the only one that is made.
func canShow(n1, n2 int) bool { return smallestP(n1, n2) < alpha }

// maxExactPairs is the number of pairs up to which the distribution of U is computed exactly: its cost grows with the fourth
// power of the sample size.
const maxExactPairs = 400

// hodgesLehmannInterval is the 95 % confidence interval of the ratio of samples of n1 and n2 values. It inverts the U test
// (Conover, Practical Nonparametric Statistics, 5.4). ratios are those of all pairs, sorted: D(1) ≤ … ≤ D(n). The interval
// is
//
//	D(k) … D(n+1−k), k the largest with P(U ≤ k−1) ≤ 2.5 %
//
// It is unbounded, 0 … +Inf, if there is no such k. That distribution of U is the one without equal values, unlike that of
// uTest: with equal values the interval may hold 1 although the test shows a difference, or the other way round.
func hodgesLehmannInterval(ratios []float64, n1, n2 int) (low, high float64) {
	k := 0
	if pairs := float64(n1 * n2); pairs > maxExactPairs { // U is close to normal then
		z := math.Sqrt2 * math.Erfinv(confidence) // 1.96, the 97.5 % quantile of the normal distribution
		meanU, variance := pairs/2, pairs*float64(n1+n2+1)/12
		k = int(meanU - z*math.Sqrt(variance))
	} else {
		dist := stats.UDist{N1: n1, N2: n2}
		for dist.CDF(float64(k)) <= alpha/2 {
			k++
		}
	}
	if k <= 0 { // the approximation, too, may leave none, as for one value against hundreds
		return 0, math.Inf(1)
	}
	return ratios[k-1], ratios[len(ratios)-k]
}
