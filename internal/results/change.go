package results

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/unit"
)

// Change says how b compares with a: "46 times lower", "3.2 % higher", "equal".
func (d Difference) Change() string { return d.change("", "") }

// ChangeFrom is Change followed by the name of a: "46 times lower than kafka", "equal to kafka". Where the estimate contradicts
// the order of the medians it is the latter: "higher than kafka by the median alone" (see changeBeside).
func (d Difference) ChangeFrom(a string) string {
	switch d.contradicted() {
	case 1:
		return "higher than " + a + byTheMedian
	case -1:
		return "lower than " + a + byTheMedian
	default:
		return d.change(" to", " than") + " " + a
	}
}

// change is Change with the words that follow "equal" and "higher" or "lower".
func (d Difference) change(to, than string) string {
	direction := "lower" + than
	if d.direction() > 0 {
		direction = "higher" + than
	}
	if d.A.Above+d.B.Above > 0 {
		return d.changeOfBounds(to, direction)
	}
	switch ratioKnown := !math.IsNaN(d.Ratio); {
	case d.same, ratioKnown && d.direction() == 0:
		return "equal" + to
	case d.direction() == 0:
		return "neither higher nor lower" + than
	case !ratioKnown:
		return direction
	case d.Ratio == 1: // most pairs of values are equal
		return "mostly equal" + to + ", else " + direction
	default:
		return ratioSize(d.Ratio) + " " + direction
	}
}

// changeOfBounds is change where a median is a lower bound, because messages never came.
func (d Difference) changeOfBounds(to, direction string) string {
	higher, lower := d.A, d.B
	if d.direction() > 0 {
		higher, lower = d.B, d.A
	}
	switch {
	case d.withinErrors():
		return "not known to be different" + strings.Replace(to, " to", " from", 1)
	case math.IsNaN(d.Ratio) || lower.Above > 0:
		return direction
	case higher.AtLeast():
		return "at least " + ratioSize(d.Ratio) + " " + direction
	}
	return ratioSize(d.Ratio) + " " + direction
}

// direction is 1 if b is higher than a by the estimate, −1 if it is lower, and 0 if it is neither. The estimate is the
// Ratio, or Delta if the ratio is not known or 1.
func (d Difference) direction() int {
	if math.IsNaN(d.Ratio) || d.Ratio == 1 {
		return cmp.Compare(d.Delta, 0)
	}
	return cmp.Compare(d.Ratio, 1)
}

// changeBeside is Change for a sentence that orders both samples by their medians and shows them. Where the estimate
// contradicts that order, as few scattered values can make it, it says so: of 4, 5 and 100 ms against 3, 6 and 7 ms the
// second has the higher median, and the estimate is 25 % lower.
func (d Difference) changeBeside() string {
	switch d.contradicted() {
	case 1:
		return "higher" + byTheMedian
	case -1:
		return "lower" + byTheMedian
	default:
		return d.Change()
	}
}

const byTheMedian = " by the median alone"

// contradicted is the order of the medians if the estimate has another: 1 if b's is the higher one, −1 if it is the lower
// one. It is 0 if they agree, or the medians are equal.
func (d Difference) contradicted() int {
	order := cmp.Compare(d.B.Median, d.A.Median)
	if order == d.direction() {
		return 0
	}
	return order
}

// ratioSize says how far a positive ratio is from 1, either way: 1.032 is "3.2 %", 2 and 0.5 are "2.0 times", 46 is
// "46 times".
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
	default:
		return unit.Share.Format(math.Abs(ratio - 1))
	}
}
