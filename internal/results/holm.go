package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/unit"
)

// holm corrects the p values of tests that are made together: the smallest times their number, the second times one
// less, and so on, never less than the one before (Holm 1979). Where all tests below 5 % are believed, the chance that
// any of them shows a difference where there is none is below 5 %, however the tests depend on each other. ps may be some
// tests of a family of that size: the others could only push these further down the order, so no result gets too small.
func holm(ps []float64, size int) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	out := make([]float64, len(ps))
	last := 0.0
	for rank, i := range order {
		last = min(1, max(last, ps[i]*float64(size-rank)))
		out[i] = last
	}
	return out
}

// Correct judges differences as one family.
func Correct(all []*Difference) {
	size, wanted := 0, 0
	for _, d := range all {
		if d.testable() {
			size++
		}
		if d.A.N > 0 && d.B.N > 0 && !d.same {
			wanted++
		}
	}
	correct(all, size, wanted)
}

// correct judges differences that belong to a family of size tests, or wanted if everything was repeated often enough.
// A test that could show nothing in such a family, whatever its outcome, is none: it is left out of the family and
// says how many repetitions it needs. Which tests these are follows from the numbers of repetitions alone, never from
// what was measured, so leaving them out favours no outcome (Tarone 1990).
func correct(all []*Difference, size, wanted int) {
	wanted = max(1, wanted)
	var tests []*Difference
	var least []float64
	for _, d := range all {
		d.Adjusted, d.Needed = 1, 0
		if d.testable() {
			tests, least = append(tests, d), append(least, d.least())
		}
	}
	var family []*Difference
	var ps []float64
	for i, p := range holm(least, size) {
		if p < alpha {
			family, ps = append(family, tests[i]), append(ps, tests[i].P)
		} else {
			size--
		}
	}
	for i, p := range holm(ps, size) {
		family[i].Adjusted = p
	}
	for _, d := range all {
		d.Family = size
		if d.A.N > 0 && d.B.N > 0 && (d.least() >= alpha || d.testable() && !slices.Contains(family, d)) {
			d.Family, d.Needed = wanted, needed(wanted)
		}
	}
}

// testable tells that some outcome would show a difference if this test was the only one.
func (d Difference) testable() bool {
	return d.A.N > 0 && d.B.N > 0 && d.least() < alpha && !d.same
}

func (d Difference) least() float64 { return smallestP(d.A.N, d.B.N) }

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
	return fmt.Sprintf("%s, Mann–Whitney U%s, n=%d and n=%d", significance("=", d.Adjusted), d.over("tests"), d.A.N, d.B.N)
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

// mostShare is the ratio from which on a change is told as a factor.
const mostShare = 1.5

// Change says how b compares with a: "46 times lower", "3.2 % higher", "equal".
func (d Difference) Change() string {
	noRatio := math.IsNaN(d.Ratio)
	higher := d.Ratio > 1 || (noRatio || d.Ratio == 1) && d.Delta > 0
	direction := map[bool]string{true: "higher", false: "lower"}[higher]
	switch factor := max(d.Ratio, 1/d.Ratio); {
	case d.same || d.Ratio == 1 && d.Delta == 0:
		return "equal"
	case noRatio && d.Delta == 0:
		return "neither higher nor lower"
	case d.Ratio == 1:
		return "mostly equal, else " + direction
	case noRatio:
		return direction
	case factor >= 9.95:
		return fmt.Sprintf("%.0f times %s", factor, direction)
	case factor >= mostShare:
		return fmt.Sprintf("%.1f times %s", factor, direction)
	}
	return unit.Share.Format(math.Abs(d.Ratio-1)) + " " + direction
}
