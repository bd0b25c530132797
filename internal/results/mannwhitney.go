package results

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// maxExact bounds the work of the U test that counts every way to deal the values: the number of all values times that of the smaller
// side. 30 on each side are as many, and so are 2 beside 898. With more the library's test is used, which counts up to 50 values
// without equal ones, and takes U for normal otherwise.
const maxExact = 60 * 30

// uTest is the two-sided p value of the Mann–Whitney U test (Mann and Whitney, Annals of Mathematical Statistics 18, 1947). Neither side
// may be empty.
//
// If both samples came from one distribution, any way to deal the pooled values to the two sides would be equally likely. The p value is
// twice the share of deals in which the ranks of side a sum up to at most, or at least, as much as the ranks seen, whichever share is
// smaller. Equal values share the mean of their ranks. For a = 10, 11 and b = 12, 13 the ranks of a are 1 and 2; no other of the 6 deals
// has a sum as small, so p is 2/6.
//
// The library's exact test isn't used: it takes the distribution of U for symmetric, which it isn't with equal values, so its p would
// depend on which side comes first.
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
	seen := 0 // twice the sum of a's ranks
	for _, v := range a {
		i, _ := slices.BinarySearch(pooled, v)
		seen += ranks[i]
	}
	var below, above, total float64
	for sum, deals := range dealsBySum(ranks, len(a)) {
		total += deals
		if sum <= seen {
			below += deals
		}
		if sum >= seen {
			above += deals
		}
	}
	return min(1, 2*min(below, above)/total)
}

// twiceRanks gives twice the rank of each of the sorted values, which is a whole number: equal values share the mean of their ranks. Of
// 7, 9, 9 it gives 2, 5, 5.
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

// dealsBySum counts the ways to choose n of the ranks, by their sum: of the ranks 2, 5, 5 there are two ways to choose 2 with the sum 7,
// and one with the sum 10. The counts are floats, because they may be larger than any integer; their rounding is far below that of a p.
//
// After the first i ranks, ways[k][s] is the number of ways to choose k of them with the sum s. The next rank r adds ways[k-1][s-r] to it;
// k and s go down, so that a rank isn't chosen twice.
func dealsBySum(ranks []int, n int) []float64 {
	largest := 0
	for _, r := range ranks {
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

// smallestP is the p value of the clearest outcome that the U test of n1 and n2 values can have: all of one sample lies above all of the
// other. Two of all ways to deal n1+n2 values are as clear as that:
//
//	2 / (n1+n2 choose n1)
//
// With 3 values on each side it is 2/20 = 10 %, with 4 it is 2/70 = 2.9 %. It is 1 without values.
func smallestP(n1, n2 int) float64 {
	deals := 1.0
	for i := 1; i <= n1; i++ {
		deals *= float64(n2+i) / float64(i)
	}
	return min(1, 2/deals)
}

// canShow tells whether a U test of n1 and n2 values can show a difference, if no other is made with it.
func canShow(n1, n2 int) bool { return smallestP(n1, n2) < alpha }

// maxExactPairs is the number of pairs up to which the distribution of U is computed exactly: its cost grows with the fourth power of the
// sample size.
const maxExactPairs = 400

// hodgesLehmannInterval is the 95 % confidence interval of the ratio of samples of n1 and n2 values. It inverts the U test (Conover,
// Practical Nonparametric Statistics, 5.4). With D(1) ≤ … ≤ D(n) the sorted pairwise ratios it is
//
//	D(k) … D(n+1−k), k the largest with P(U ≤ k−1) ≤ 2.5 %
//
// It is unbounded, 0 … +Inf, if there is no such k.
func hodgesLehmannInterval(sorted []float64, n1, n2 int) (low, high float64) {
	k := 0
	if pairs := float64(n1 * n2); pairs > maxExactPairs { // U is close to normal then
		const z = 1.96 // 97.5 % quantile of the normal distribution
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
	return sorted[k-1], sorted[len(sorted)-k]
}
