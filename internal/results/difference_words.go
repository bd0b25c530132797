package results

import (
	"fmt"
	"math"

	"github.com/brokermark/brokermark/internal/unit"
)

// Why says in words what the answer rests on: "p = 0.023, Mann–Whitney U, Holm over 6 tests, n=5 and n=5".
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

// A change is a percentage below a factor of 1.5, has one decimal place up to 10, and is a whole factor from there on.
const (
	leastFactor = 1.5
	wholeFactor = 9.95 // the least factor that rounds to 10.0
)

// change words the change. equal is the word for equality, and than follows a direction.
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
