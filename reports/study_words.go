package reports

import (
	"fmt"
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/unit"
)

// measuredText states the figures measured for a claim, a clause for each of its statements.
func measuredText(c claim.Claim, a claim.Answer) string {
	var clauses []string
	for i, p := range a.Parts {
		if text := partText(c.Statements[i], p); text != "" {
			clauses = append(clauses, text)
		}
	}
	return strings.Join(clauses, "; ")
}

func partText(s claim.Statement, p claim.Part) string {
	if p.Figure.N == 0 {
		return ""
	}
	text := figureText(s, p)
	if s.Kind == claim.Slope {
		text += fmt.Sprintf(" along %s, R² %s", s.Along, trimmed(p.R2.Value))
	}
	var more []string
	switch n := len(p.Cells); {
	case n > 1 && each(s):
		more = append(more, fmt.Sprintf("holds at %d of %d", p.Count(claim.Holds), n))
	case n > 1:
		more = append(more, fmt.Sprintf("%s of %d", s.Take, n))
	}
	if p.Figure.N > 1 {
		more = append(more, fmt.Sprintf("n=%d", p.Figure.N))
	}
	if more != nil {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// each tells that places are judged one by one.
func each(s claim.Statement) bool { return s.Take == claim.TakeEach || s.Take == claim.TakeShare }

func figureText(s claim.Statement, p claim.Part) string {
	f := p.Figure
	text := signed(f.Unit, f.Value)
	switch {
	case each(s) && len(p.Cells) > 1:
		text = between(f)
	case f.Low != f.High:
		text += " [" + between(f) + "]"
	}
	if s.Kind == claim.Rank {
		text += " the best other"
	}
	return text
}

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

func trimmed(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.2f", v)
}
