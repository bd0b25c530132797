package results

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"github.com/brokermark/brokermark/internal/store"
)

// Difference is how sample b differs from sample a.
type Difference struct {
	A, B Summary
	// P is the p value of the two-sided Mann–Whitney U test by itself; 1 if no outcome could show a difference.
	P float64
	// Adjusted is P corrected for the Family tests that were made together; see Correct.
	Adjusted float64
	Family   int
	// Ratio is the Hodges–Lehmann estimate of b/a: the median of all pairwise ratios (Hodges and Lehmann, Annals of Mathematical
	// Statistics 34, 1963). It lies within RatioLow..RatioHigh with 95 % confidence; they are 0 and +Inf with too few values for an
	// interval. Ratio is NaN if a value isn't positive.
	Ratio, RatioLow, RatioHigh float64
	// Delta is Cliff's delta, P(b>a) − P(b<a): −1 if all of b is below all of a, 1 if it is above (Cliff, Psychological Bulletin 114,
	// 1993).
	Delta  float64
	Needed int  // how many repetitions each side needs at least for any test to show a difference; 0 if it has them
	same   bool // every value of both sides is equal
}

// Contrast compares two samples without assuming a distribution, as the only test that is made. Correct corrects several.
func Contrast(a, b []float64) Difference {
	d := Difference{A: Summarize(a), B: Summarize(b), P: 1, Ratio: math.NaN(), RatioLow: 0, RatioHigh: math.Inf(1)}
	if len(a) > 0 && len(b) > 0 {
		d.same = min(slices.Min(a), slices.Min(b)) == max(slices.Max(a), slices.Max(b))
		if smallestP(len(a), len(b)) < alpha && !d.same {
			d.P = uTest(a, b)
		}
		d.measureEffect(a, b)
	}
	Correct([]*Difference{&d})
	return d
}

// ContrastOf contrasts a metric of two groups of records. No difference is shown that the error of their clocks may have made.
func ContrastOf(m Metric, a, b []store.Record) Difference {
	d := Contrast(m.Values(a), m.Values(b))
	d.A.Bound, d.B.Bound = m.Bound(a), m.Bound(b)
	return d
}

// measureEffect sets Delta and Ratio with its interval from all pairs of a value of a and one of b.
func (d *Difference) measureEffect(a, b []float64) {
	var ratios []float64
	for _, x := range a {
		for _, y := range b {
			d.Delta += float64(cmp.Compare(y, x))
			ratios = append(ratios, y/x)
		}
	}
	d.Delta /= float64(len(ratios))
	if slices.Min(a) > 0 && slices.Min(b) > 0 {
		slices.Sort(ratios)
		d.Ratio = (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
		d.RatioLow, d.RatioHigh = hodgesLehmannInterval(ratios, len(a), len(b))
	}
}

// Answer is the outcome of a comparison of two samples.
type Answer int

// The three answers. Reports word each of them differently.
const (
	NotTested         Answer = iota // with so few repetitions no outcome could show a difference: the ratio stands alone
	NoDifferenceShown               // the test could have shown a difference, and did not
	Different                       // the test shows one
)

// Answer is the outcome of the comparison.
func (d Difference) Answer() Answer {
	switch {
	case d.A.N == 0 || d.B.N == 0 || d.Needed > 0:
		return NotTested
	case d.Adjusted < alpha && !d.withinClocks():
		return Different
	}
	return NoDifferenceShown
}

// Shown tells whether the samples differ at the 5 % level, over all tests of the family.
func (d Difference) Shown() bool { return d.Answer() == Different }

// withinClocks tells whether the errors of the clocks are large enough to make equal medians differ as much as these do.
func (d Difference) withinClocks() bool {
	bound := d.ClockBound()
	return bound > 0 && math.Abs(d.A.Median-d.B.Median) <= bound
}

// ClockBound is the largest difference of the medians that clocks alone may make; 0 if each sample was taken by one clock.
func (d Difference) ClockBound() float64 { return d.A.Bound + d.B.Bound }

// smallestP is the p value of the clearest outcome that the U test can have: all of one sample lies above all of the other. Two of all
// ways to deal n1+n2 values are as clear as that:
//
//	2 / (n1+n2 choose n1)
func smallestP(n1, n2 int) float64 {
	deals := 1.0
	for i := 1; i <= n1; i++ {
		deals *= float64(n2+i) / float64(i)
	}
	return min(1, 2/deals)
}

// maxExactPairs is the number of pairs up to which the distribution of U is computed exactly: its cost grows with the fourth power of
// the sample size.
const maxExactPairs = 400

// hodgesLehmannInterval inverts the U test (Conover, Practical Nonparametric Statistics, 5.4). With D(1) ≤ … ≤ D(n) the sorted pairwise
// ratios it is
//
//	D(k) … D(n+1−k), k the largest with P(U ≤ k−1) ≤ 2.5 %
//
// It is unbounded, 0 … +Inf, if there is no such k.
func hodgesLehmannInterval(sorted []float64, n1, n2 int) (low, high float64) {
	k := 0
	if pairs := float64(n1 * n2); pairs > maxExactPairs {
		const z = 1.96 // 97.5 % quantile of the normal distribution, which U approaches
		k = int(pairs/2 - z*math.Sqrt(pairs*float64(n1+n2+1)/12))
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
