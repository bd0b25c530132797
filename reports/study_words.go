// The figures that decide a claim, in words.

package reports

import (
	"fmt"
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/unit"
)

// measuredText states the figures that were measured for a claim, a clause for each of its statements. It is empty if there are none.
func measuredText(c claim.Claim, a claim.Answer) string {
	var clauses []string
	for i, p := range a.Parts {
		if text := partText(c.Statements[i], p); text != "" {
			clauses = append(clauses, text)
		}
	}
	return strings.Join(clauses, "; ")
}

// partText is the figure of a statement with the number of places and repetitions it is of: "12 to 15 % along rate, R² 0.98 (holds at 3 of 4,
// n=5)".
func partText(s claim.Statement, p claim.Part) string {
	if p.Figure.N == 0 {
		return ""
	}
	text := figureText(s, p)
	if s.Kind == claim.Slope {
		text += fmt.Sprintf(" along %s, R² %s", s.Along, coefficient(p.R2.Value))
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
	if counts != nil {
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
	text := signed(f.Unit, f.Value)
	switch {
	case judgedByPlace(s) && len(p.Cells) > 1:
		text = between(f)
	case f.Low != f.High:
		text += " [" + between(f) + "]"
	}
	if s.Kind == claim.Rank {
		text += " the best other"
	}
	return text
}

// between is the range of a figure: "12 to 15 %".
func between(f claim.Figure) string {
	if math.IsInf(f.High, 1) {
		return "at least " + signed(f.Unit, f.Low)
	}
	low, high := signed(f.Unit, f.Low), signed(f.Unit, f.High)
	if low == high {
		return low
	}
	return low + " to " + high
}

// signed writes a figure; a minus sign is part of a change.
func signed(u unit.Unit, v float64) string {
	if v < 0 {
		return "−" + u.Format(-v)
	}
	return u.Format(v)
}

// coefficient writes R²; it is a dash if there is none.
func coefficient(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.2f", v)
}
