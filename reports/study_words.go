package reports

import (
	"fmt"
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/unit"
)

// measuredText is what was measured of a claim, a clause for each of its statements.
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
	if n := len(p.Cells); n > 1 {
		text += fmt.Sprintf("; holds at %d of %d", p.Count(claim.Holds), n)
	}
	if p.Figure.N > 1 {
		text += fmt.Sprintf(" (n=%d)", p.Figure.N)
	}
	return text
}

func figureText(s claim.Statement, p claim.Part) string {
	f := p.Figure
	text := signed(f.Unit, f.Value)
	switch each := s.Take == claim.TakeEach || s.Take == claim.TakeShare; {
	case each && len(p.Cells) > 1:
		text = signed(f.Unit, f.Low) + " to " + signed(f.Unit, f.High)
	case f.Low != f.High:
		text += " [" + signed(f.Unit, f.Low) + " to " + signed(f.Unit, f.High) + "]"
	}
	if s.Kind == claim.Rank {
		text += " the best other"
	}
	return text
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
