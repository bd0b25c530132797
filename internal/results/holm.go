package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/unit"
)

// holm corrects the p values of tests that are made together (Holm, Scandinavian Journal of Statistics 6, 1979). The smallest is
// multiplied by the number of tests, the second by one less, and so on, and none gets smaller than the one before. If every test with a
// corrected p below 5 % is believed, the chance that any of them shows a difference where there is none is below 5 %, however the tests
// depend on each other.
//
// ps may be some tests of a family of that size: the others could only push these further down the order, so no result gets too small.
func holm(ps []float64, size int) []float64 {
	byP := make([]int, len(ps)) // indexes of ps
	for i := range byP {
		byP[i] = i
	}
	slices.SortStableFunc(byP, func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	corrected := make([]float64, len(ps))
	last := 0.0
	for rank, i := range byP {
		last = min(1, max(last, ps[i]*float64(size-rank)))
		corrected[i] = last
	}
	return corrected
}

// Correct judges differences as one family of tests: it sets their Adjusted, Family and Needed.
func Correct(all []*Difference) {
	testable, wanted := 0, 0
	for _, d := range all {
		if d.testable() {
			testable++
		}
		if d.A.N > 0 && d.B.N > 0 && !d.same {
			wanted++
		}
	}
	correct(all, testable, wanted)
}

// correct judges differences that belong to a family of size tests, or of wanted tests if everything had been repeated often enough.
//
// A test that could show nothing in such a family, whatever its outcome, is left out of it, and says how many repetitions it needs
// (Tarone, Biometrics 46, 1990). Which tests these are follows from the numbers of repetitions alone, never from what was measured, so
// leaving them out favours no outcome.
func correct(all []*Difference, size, wanted int) {
	var testable []*Difference
	var smallest []float64 // p values that they could have
	for _, d := range all {
		d.Adjusted, d.Needed = 1, 0
		if d.testable() {
			testable, smallest = append(testable, d), append(smallest, d.smallestP())
		}
	}
	var family []*Difference
	var ps []float64
	for i, p := range holm(smallest, size) {
		if p < alpha {
			family, ps = append(family, testable[i]), append(ps, testable[i].P)
		} else {
			size--
		}
	}
	for i, p := range holm(ps, size) {
		family[i].Adjusted = p
	}
	wanted = max(1, wanted)
	for _, d := range all {
		d.Family = size
		leftOut := d.testable() && !slices.Contains(family, d)
		if d.A.N > 0 && d.B.N > 0 && (d.smallestP() >= alpha || leftOut) {
			d.Family, d.Needed = wanted, needed(wanted)
		}
	}
}

// testable tells whether some outcome would show a difference if this test was the only one.
func (d Difference) testable() bool {
	return d.A.N > 0 && d.B.N > 0 && d.smallestP() < alpha && !d.same
}

// smallestP is the p value of the clearest outcome that the test could have had.
func (d Difference) smallestP() float64 { return smallestP(d.A.N, d.B.N) }

// needed is how many repetitions each side needs at least for one of so many tests to show a difference.
func needed(tests int) int {
	n := 2
	for smallestP(n, n)*float64(tests) >= alpha {
		n++
	}
	return n
}

// Why says in words what the answer rests on.
func (d Difference) Why() string {
	if d.A.N == 0 || d.B.N == 0 {
		return fmt.Sprintf("no test possible with n=%d and n=%d", d.A.N, d.B.N)
	}
	if d.Answer() == NotTested {
		return runs(d.A.N, d.B.N) + ", so not tested: " + d.need("test")
	}
	why := fmt.Sprintf("%s, Mann–Whitney U%s, n=%d and n=%d", significance("=", d.Adjusted), d.over("tests"), d.A.N, d.B.N)
	if d.withinClocks() {
		why += fmt.Sprintf("; the clocks by which they were taken leave ±%s open", unit.Nanoseconds.Format(d.ClockBound()))
	}
	return why
}

// need says how many repetitions were needed: "6 tests at once need at least 5 each".
func (d Difference) need(what string) string {
	if d.Family == 1 {
		return fmt.Sprintf("a test needs at least %d each", d.Needed)
	}
	return fmt.Sprintf("%d %ss at once need at least %d each", d.Family, what, d.Needed)
}

// over names the correction: ", Holm over 6 pairs".
func (d Difference) over(what string) string {
	if d.Family < 2 {
		return ""
	}
	return fmt.Sprintf(", Holm over %d %s", d.Family, what)
}

// runs counts the repetitions of both sides: "one run each", "2 and 3 runs".
func runs(a, b int) string {
	switch {
	case a == 1 && b == 1:
		return "one run each"
	case a == b:
		return fmt.Sprintf("%d runs each", a)
	}
	return fmt.Sprintf("%d and %d runs", a, b)
}

// significance writes how a p value compares: "p = 0.023", "p ≤ 0.048", "p < 0.001".
func significance(sign string, p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p %s %.3f", sign, p)
}

// Change says how b compares with a: "46 times lower", "3.2 % higher", "equal".
func (d Difference) Change() string { return d.change("equal", "") }

// ChangeFrom is Change followed by the name of a: "46 times lower than kafka", "equal to kafka".
func (d Difference) ChangeFrom(a string) string { return d.change("equal to", " than") + " " + a }

// Changes are told as a share up to a factor of 1.5, with one decimal place up to 10, and as whole factors from there on.
const (
	leastFactor = 1.5
	wholeFactor = 9.95 // what rounds to 10.0
)

// change words the change. equal and than are the words for equality, and those between a direction and what it is seen from.
func (d Difference) change(equal, than string) string {
	hasRatio := !math.IsNaN(d.Ratio)
	direction := "lower"
	if d.Ratio > 1 || (!hasRatio || d.Ratio == 1) && d.Delta > 0 {
		direction = "higher"
	}
	switch factor := max(d.Ratio, 1/d.Ratio); {
	case d.same || d.Ratio == 1 && d.Delta == 0:
		return equal
	case !hasRatio && d.Delta == 0:
		return "neither higher nor lower" + than
	case !hasRatio:
		return direction + than
	case d.Ratio == 1:
		return "mostly " + equal + ", else " + direction + than
	case factor >= wholeFactor:
		return fmt.Sprintf("%.0f times %s%s", factor, direction, than)
	case factor >= leastFactor:
		return fmt.Sprintf("%.1f times %s%s", factor, direction, than)
	}
	return unit.Share.Format(math.Abs(d.Ratio-1)) + " " + direction + than
}
