package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
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
	// Ratio is the Hodges–Lehmann estimate of b/a: the median of all pairwise ratios (Hodges and Lehmann, Annals of Mathematical
	// Statistics 34, 1963). It lies within RatioLow..RatioHigh with 95 % confidence; they are 0 and +Inf with too few values for an
	// interval. Ratio is NaN if a value isn't positive.
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
	d := Difference{A: Summarize(a), B: Summarize(b), P: 1, Ratio: math.NaN(), RatioLow: 0, RatioHigh: math.Inf(1)}
	if !d.empty() {
		d.same = min(slices.Min(a), slices.Min(b)) == max(slices.Max(a), slices.Max(b))
		if canShow(len(a), len(b)) && !d.same {
			d.P = uTest(a, b)
		}
		d.Delta = cliffsDelta(a, b)
		if slices.Min(a) > 0 && slices.Min(b) > 0 {
			ratios := pairwiseRatios(a, b)
			d.Ratio = medianRatio(ratios)
			d.RatioLow, d.RatioHigh = hodgesLehmannInterval(ratios, len(a), len(b))
		}
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

// ContrastOf compares a metric of two groups of records. A difference that the error of their clocks may have made is not shown.
func ContrastOf(m Metric, a, b []store.Record) Difference {
	d := Contrast(m.Values(a), m.Values(b))
	d.A.ClockBound, d.B.ClockBound = m.ClockBound(a), m.ClockBound(b)
	return d
}

// Answer is the outcome of a comparison of two samples.
type Answer int

// The three answers. Reports word each of them differently.
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

// ClockBound is the largest difference of the medians, in nanoseconds, that clocks alone may make; 0 if each sample was taken by one clock.
func (d Difference) ClockBound() float64 { return d.A.ClockBound + d.B.ClockBound }

// Why says in words what the answer rests on: "p = 0.023, Mann–Whitney U, Holm over 6 tests, n=5 and n=5".
func (d Difference) Why() string {
	if d.empty() {
		return fmt.Sprintf("no test possible with n=%d and n=%d", d.A.N, d.B.N)
	}
	if d.Needed > 0 {
		return runs(d.A.N, d.B.N) + ", so not tested: " + d.neededRuns("differences")
	}
	why := fmt.Sprintf("%s, n=%d and n=%d", d.method(significance("=", d.Adjusted), "tests"), d.A.N, d.B.N)
	if d.withinClocks() {
		why += "; " + clocksLeaveOpen(d.ClockBound())
	}
	return why
}

// clocksLeaveOpen says by how much the clocks may have made medians differ, in nanoseconds.
func clocksLeaveOpen(bound float64) string {
	return "the clocks by which they were taken leave ±" + unit.Nanoseconds.Format(bound) + " open"
}

// neededRuns says how many repetitions a test needs: "testing 6 pairs at once needs at least 5 each". tests is the word for the tests of the
// family: "differences" or "pairs".
func (d Difference) neededRuns(tests string) string {
	if d.Family == 1 {
		return fmt.Sprintf("a test needs at least %d each", d.Needed)
	}
	return fmt.Sprintf("testing %d %s at once needs at least %d each", d.Family, tests, d.Needed)
}

// method adds the test and its correction to a p value: "p = 0.023, Mann–Whitney U, Holm over 6 pairs". tests is "tests" or "pairs".
func (d Difference) method(p, tests string) string {
	p += ", Mann–Whitney U"
	if d.Family > 1 {
		p += fmt.Sprintf(", Holm over %d %s", d.Family, tests)
	}
	return p
}

// runs counts the repetitions of both samples: "one run each", "2 and 3 runs".
func runs(a, b int) string {
	switch {
	case a == 1 && b == 1:
		return "one run each"
	case a == b:
		return fmt.Sprintf("%d runs each", a)
	}
	return fmt.Sprintf("%d and %d runs", a, b)
}

// significance writes how a p value compares: "p = 0.023", "p ≤ 0.048", "p < 0.001". It has three decimals, and more where these would put
// it on the other side of 5 %: 0.04978 is "p = 0.0498", and not 0.050.
func significance(sign string, p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	text := fmt.Sprintf("%.3f", p)
	for decimals := 4; decimals <= 15; decimals++ {
		if shown, _ := strconv.ParseFloat(text, 64); (shown < alpha) == (p < alpha) { // always a number
			break
		}
		text = strconv.FormatFloat(p, 'f', decimals, 64)
	}
	return "p " + sign + " " + text
}

// Change says how b compares with a: "46 times lower", "3.2 % higher", "equal".
func (d Difference) Change() string {
	return d.change(changeWords{equal: "equal", higher: "higher", lower: "lower"})
}

// ChangeFrom is Change followed by the name of a: "46 times lower than kafka", "equal to kafka". Where the estimate contradicts the order of
// the medians it is the latter: "higher than kafka by the median alone" (see changeBeside).
func (d Difference) ChangeFrom(a string) string {
	switch d.contradicted() {
	case 1:
		return "higher than " + a + byTheMedian
	case -1:
		return "lower than " + a + byTheMedian
	}
	return d.change(changeWords{equal: "equal to", higher: "higher than", lower: "lower than"}) + " " + a
}

// changeBeside is Change for a sentence that orders both samples by their medians and shows them. Where the estimate contradicts that
// order, as few scattered values can make it, it says so: of 4, 5 and 100 ms against 3, 6 and 7 ms the second has the higher median, and the
// estimate is 25 % lower.
func (d Difference) changeBeside() string {
	switch d.contradicted() {
	case 1:
		return "higher" + byTheMedian
	case -1:
		return "lower" + byTheMedian
	}
	return d.Change()
}

const byTheMedian = " by the median alone"

// contradicted is the order of the medians if the estimate has another: 1 if b's is the higher one, −1 if it is the lower one. It is 0 if they
// agree, or the medians are equal.
func (d Difference) contradicted() int {
	order := cmp.Compare(d.B.Median, d.A.Median)
	if order == d.direction() {
		return 0
	}
	return order
}

// direction is 1 if b is higher than a by the estimate, −1 if it is lower, and 0 if it is neither.
func (d Difference) direction() int {
	if math.IsNaN(d.Ratio) || d.Ratio == 1 {
		return cmp.Compare(d.Delta, 0)
	}
	return cmp.Compare(d.Ratio, 1)
}

type changeWords struct{ equal, higher, lower string }

func (d Difference) change(words changeWords) string {
	switch {
	case d.same || d.Ratio == 1 && d.Delta == 0:
		return words.equal
	case d.Ratio > 1:
		return ratioSize(d.Ratio) + " " + words.higher
	case d.Ratio < 1:
		return ratioSize(d.Ratio) + " " + words.lower
	case d.Delta == 0: // the ratio is not known
		return "neither higher nor " + words.lower
	}
	direction := words.lower
	if d.Delta > 0 {
		direction = words.higher
	}
	if d.Ratio == 1 { // most pairs of values are equal
		return "mostly " + words.equal + ", else " + direction
	}
	return direction
}

// ratioSize says how far a ratio is from 1, either way: 1.032 is "3.2 %", 2 and 0.5 are "2.0 times", 46 is "46 times".
func ratioSize(ratio float64) string {
	const (
		leastFactor = 1.5  // below it a percentage is easier to read
		wholeFactor = 9.95 // the least factor that rounds to 10.0
	)
	switch factor := max(ratio, 1/ratio); {
	case factor >= wholeFactor:
		return fmt.Sprintf("%.0f times", factor)
	case factor >= leastFactor:
		return fmt.Sprintf("%.1f times", factor)
	}
	return unit.Share.Format(math.Abs(ratio - 1))
}
