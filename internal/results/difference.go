package results

import (
	"cmp"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// Difference is how sample b differs from sample a, such as the latencies of two brokers, with a value for each repetition.
// With a = 10, 11, 12, 13 and b = 20, 22, 24, 26 the Ratio is 2, within 1.54..2.6, Delta is 1 and P is 2/70.
type Difference struct {
	A, B Summary
	// P is the p value of the two-sided Mann–Whitney U test by itself; 1 if no test is made, because there are too few
	// values or because all are equal.
	P float64
	// Adjusted is P corrected for all tests that were made together (see Correct), and Family is their number.
	Adjusted float64
	Family   int
	// Needed is how many repetitions each sample needs at least for a test in this family to show a difference; 0 if both
	// have them, or if there is nothing to compare.
	Needed int
	// Ratio is the Hodges–Lehmann estimate of b/a: the median of all pairwise ratios (Hodges and Lehmann, Annals of
	// Mathematical Statistics 34, 1963). It lies within RatioLow..RatioHigh with 95 % confidence; they are 0 and +Inf with too
	// few values for an interval. Ratio is NaN if a value isn't positive.
	Ratio, RatioLow, RatioHigh float64
	// Delta is Cliff's delta: the share of pairs in which b's value is above a's, less the share in which it is below. It
	// is −1 if all of b is below all of a, 1 if it is above (Cliff, Psychological Bulletin 114, 1993).
	Delta float64

	same bool // all values of both samples are equal
}

// empty tells that a sample has no values, so that there is nothing to compare.
func (d Difference) empty() bool { return d.A.N == 0 || d.B.N == 0 }

// Contrast compares two samples without assuming a distribution, and changes neither. Its p value is that of a single test;
// if several are made together, Correct corrects them.
func Contrast(a, b []float64) Difference {
	d := Difference{
		A: Summarize(a), B: Summarize(b), P: 1, Adjusted: 1, Ratio: math.NaN(), RatioLow: 0, RatioHigh: math.Inf(1),
	}
	if d.empty() {
		return d
	}
	least, most := min(slices.Min(a), slices.Min(b)), max(slices.Max(a), slices.Max(b))
	d.same = least == most
	if canShow(len(a), len(b)) && !d.same {
		d.P = uTest(a, b)
	}
	d.Delta = cliffsDelta(a, b)
	if least > 0 {
		ratios := pairwiseRatios(a, b)
		d.Ratio = medianRatio(ratios)
		d.RatioLow, d.RatioHigh = hodgesLehmannInterval(ratios, len(a), len(b))
	}
	Correct([]*Difference{&d})
	return d
}

// cliffsDelta is the share of pairs in which the value of b is above that of a, less the share in which it is below.
func cliffsDelta(a, b []float64) float64 {
	above := 0 // pairs, less those below
	for _, x := range a {
		for _, y := range b {
			above += cmp.Compare(y, x)
		}
	}
	return float64(above) / float64(len(a)*len(b))
}

// pairwiseRatios are all ratios of a value of b to one of a, sorted.
func pairwiseRatios(a, b []float64) []float64 {
	var ratios []float64
	for _, x := range a {
		for _, y := range b {
			ratios = append(ratios, y/x)
		}
	}
	slices.Sort(ratios)
	return ratios
}

// ContrastOf compares a metric of two groups of records. A difference that errors of measurement may have made is not shown (see
// Summary.Truth).
func ContrastOf(m Metric, a, b []store.Record) Difference {
	return NewContender("", m, b).differenceFrom(NewContender("", m, a))
}

// Answer is the outcome of a comparison of two samples.
type Answer int

// The three answers.
const (
	NotTested         Answer = iota // there are too few repetitions for any outcome to show a difference
	NoDifferenceShown               // the test could have shown a difference, and did not
	Different                       // the test shows one
)

// Answer is the outcome of the comparison.
func (d Difference) Answer() Answer {
	switch {
	case d.empty() || d.Needed > 0:
		return NotTested
	case d.Adjusted < alpha && !d.withinErrors():
		return Different
	default:
		return NoDifferenceShown
	}
}

// Shown tells whether the samples differ at the 5 % level, over all tests of the family.
func (d Difference) Shown() bool { return d.Answer() == Different }

// OpenByErrors tells whether only errors of measurement, and not the test, keep a difference from being shown.
func (d Difference) OpenByErrors() bool { return d.Answer() == NoDifferenceShown && d.Adjusted < alpha }

// withinErrors tells whether the medians may be equal by the errors of measurement alone, so that neither is higher.
func (d Difference) withinErrors() bool {
	leastA, mostA := d.A.Truth()
	leastB, mostB := d.B.Truth()
	hasErrors := leastA < mostA || leastB < mostB
	return hasErrors && leastA <= mostB && leastB <= mostA
}

// ClockBound is the largest difference of the medians, in nanoseconds, that clocks alone may make; 0 if each sample was taken by
// one clock.
func (d Difference) ClockBound() float64 { return d.A.ClockBound + d.B.ClockBound }
