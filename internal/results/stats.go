package results

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

const (
	confidence = 0.95           // of every interval
	alpha      = 1 - confidence // below which a p value shows a difference
)

// Summary sums up the values of repetitions.
type Summary struct {
	N         int     // values
	Median    float64 // NaN if N is 0
	Low, High float64 // NaN if N is 0
	// Confident tells whether Low..High holds the true median with 95 % confidence, whatever the distribution; that needs 6 values.
	// Otherwise Low and High are just the smallest and the largest value.
	Confident bool
	// Bound is by how much each value may be off, either way, as far as the clocks that it was taken by are known to each other.
	Bound float64
}

// Summarize assumes no distribution. Its interval lies between order statistics: the number of values below the true median is
// binomial with p = 1/2 (Conover, Practical Nonparametric Statistics, 3.2).
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), confidence)
	out := Summary{N: len(values), Median: s.Center, Low: s.Lo, High: s.Hi, Confident: true}
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		out.Low, out.High, out.Confident = slices.Min(values), slices.Max(values), false
	}
	return out
}

// Cell makes a cell of a summary; one of no values is blank, one of a single value has no interval.
func (s Summary) Cell() document.Cell {
	switch {
	case s.N == 0:
		return document.Cell{}
	case s.Bound > 0:
		return document.Cell{Kind: document.Interval, Number: s.Median, Low: s.Low - s.Bound, High: s.High + s.Bound, Bounded: true}
	case s.N == 1:
		return document.Number(s.Median)
	}
	return document.Cell{Kind: document.Interval, Number: s.Median, Low: s.Low, High: s.High}
}

// Answer is the outcome of a comparison of two samples.
type Answer int

// The three answers. Reports word each of them differently.
const (
	NotTested         Answer = iota // with so few repetitions no outcome could show a difference: the ratio stands alone
	NoDifferenceShown               // the test could have shown a difference, and did not
	Different                       // the test shows one
)

// Difference is how sample b differs from sample a.
type Difference struct {
	A, B Summary
	// P is the p value of the two-sided Mann–Whitney U test as if it was the only one; 1 if it can show nothing.
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

// withinClocks tells whether the medians may be equal for all that is known of the clocks by which the samples were taken.
func (d Difference) withinClocks() bool {
	bound := d.ClockBound()
	return bound > 0 && math.Abs(d.A.Median-d.B.Median) <= bound
}

// ClockBound is by how much the medians may differ because of clocks alone. 0: each sample was taken by one clock.
func (d Difference) ClockBound() float64 { return d.A.Bound + d.B.Bound }

// ContrastOf compares a metric of two groups of records by Contrast, with what their clocks leave open.
func ContrastOf(m Metric, a, b []store.Record) Difference {
	d := Contrast(m.Values(a), m.Values(b))
	d.A.Bound, d.B.Bound = m.Bound(a), m.Bound(b)
	return d
}

// Contrast compares two samples without assuming a distribution, as the only test that is made. Of several, Correct must be told.
func Contrast(a, b []float64) Difference {
	d := contrast(a, b)
	Correct([]*Difference{&d})
	return d
}

// contrast is Contrast without a decision: Correct or correct has to follow.
func contrast(a, b []float64) Difference {
	d := Difference{A: Summarize(a), B: Summarize(b), P: 1, Adjusted: 1, Ratio: math.NaN(), RatioLow: 0, RatioHigh: math.Inf(1)}
	if len(a) == 0 || len(b) == 0 {
		return d
	}
	d.same = min(slices.Min(a), slices.Min(b)) == max(slices.Max(a), slices.Max(b))
	if smallestP(len(a), len(b)) < alpha && !d.same {
		d.P = uTest(a, b)
	}
	var ratios []float64
	for _, x := range a {
		for _, y := range b {
			d.Delta += float64(sign(y - x))
			ratios = append(ratios, y/x)
		}
	}
	d.Delta /= float64(len(ratios))
	if slices.Min(a) > 0 && slices.Min(b) > 0 {
		slices.Sort(ratios)
		d.Ratio = middle(ratios)
		d.RatioLow, d.RatioHigh = hodgesLehmannInterval(ratios, len(a), len(b))
	}
	return d
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// smallestP is the p value of the clearest outcome that there can be: all of one sample lies above all of the other. Of all ways to deal
// n1+n2 values two are as clear as that.
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
		const z = 1.96 // of the normal distribution, at 97.5 %
		k = int(pairs/2 - z*math.Sqrt(pairs*float64(n1+n2+1)/12))
	} else {
		dist := stats.UDist{N1: n1, N2: n2}
		for dist.CDF(float64(k)) <= alpha/2 {
			k++
		}
	}
	if k <= 0 { // the approximation may leave none, too, as for one value against hundreds
		return 0, math.Inf(1)
	}
	return sorted[k-1], sorted[len(sorted)-k]
}

// middle is the median of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// HalfWidth is half the width of the 95 % interval of a metric over n repetitions, as a share of the median. It is NaN with too few
// repetitions for an interval.
func HalfWidth(m Metric, records []store.Record) (half float64, n int) {
	s := Summarize(m.Values(records))
	if !s.Confident || s.Median == 0 {
		return math.NaN(), s.N
	}
	return (s.High - s.Low) / 2 / math.Abs(s.Median), s.N
}

// Needed is how many repetitions each of several contenders needs at least for a test to show a difference between any two of
// them: all pairs are tested as one family. It is 1 if there is no pair.
func Needed(contenders int) int {
	pairs := contenders * (contenders - 1) / 2
	if pairs < 1 {
		return 1
	}
	return needed(pairs)
}
