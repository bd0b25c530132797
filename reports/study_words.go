// The figures that decide a claim, in words. A claim is one or more statements, such as "the p99 of kafka
// grows by at least 10 % along the rate"; each is judged at one or more places, such as message sizes. The
// words of one statement: "12 to 15 % along rate, R² 0.98 (holds at 3 of 4, n=5)".

package reports

import (
	"fmt"
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
)

// measuredText states the figures that were measured for a claim, a clause for each of its statements. It
// is empty if there are none.
func measuredText(c claim.Claim, a claim.Answer) string {
	var clauses []string
	for i, p := range a.Parts {
		if text := partText(c.Statements[i], p); text != "" {
			clauses = append(clauses, text)
		}
	}
	return strings.Join(clauses, "; ")
}

// partText is the figure of a statement, with how many places and repetitions it is of. It is empty if
// nothing was measured for it.
func partText(s claim.Statement, p claim.Part) string {
	if p.Figure.N == 0 {
		return ""
	}
	text := figureText(s, p)
	if s.Kind == claim.Slope {
		text += fmt.Sprintf(" along %s, R² %s", s.Along, r2Text(p.R2.Value))
	}
	var counts []string
	switch n := len(p.Cells); {
	case n > 1 && judgedByPlace(s):
		counts = append(counts, fmt.Sprintf("holds at %d of %d", p.Count(claim.Holds), n))
	case n > 1:
		counts = append(counts, fmt.Sprintf("%s of %d", s.Take, n))
	}
	if p.Figure.N > 1 {
		counts = append(counts, fmt.Sprintf("n=%d", p.Figure.N))
	}
	if len(counts) > 0 {
		text += " (" + strings.Join(counts, ", ") + ")"
	}
	return text
}

// judgedByPlace tells whether the places that a statement is about are judged one by one.
func judgedByPlace(s claim.Statement) bool {
	return s.Take == claim.TakeEach || s.Take == claim.TakeShare
}

// figureText is the figure of a statement with its interval, or the range of the figures of all places.
func figureText(s claim.Statement, p claim.Part) string {
	f := p.Figure
	text := f.Unit.Format(f.Value)
	switch {
	case judgedByPlace(s) && len(p.Cells) > 1:
		text = rangeText(f)
	case f.Low != f.High:
		text += " [" + rangeText(f) + "]"
	}
	if s.Kind == claim.Rank {
		text += " the best other"
	}
	return text
}

// rangeText is the interval of a figure: "12 to 15 %".
func rangeText(f claim.Figure) string {
	if math.IsInf(f.High, 1) {
		return "at least " + f.Unit.Format(f.Low)
	}
	low, high := f.Unit.Format(f.Low), f.Unit.Format(f.High)
	if low == high {
		return low
	}
	return low + " to " + high
}

// r2Text writes the coefficient of determination. It is a dash if there is none (NaN), because all values
// are equal.
func r2Text(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.2f", v)
}
