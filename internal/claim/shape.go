package claim

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/unit"
)

// Forms of a shape. A slope rises and falls, too.
const (
	constantForm    = "constant"
	risingForm      = "rising"
	fallingForm     = "falling"
	interiorMaximum = "interior maximum"
)

var forms = []string{constantForm, risingForm, fallingForm, interiorMaximum}

// shapeCell judges figures along an axis, of which there are two at least, and three for an interior maximum. They are
// judged by one figure made of them:
//
//	constant           (largest − smallest) / median                       at most Within
//	rising             the smallest ratio of a figure to an earlier one    at least 1 − Within
//	falling            the largest such ratio                              at most 1 + Within
//	interior maximum   largest inside / larger of both ends                above 1 + Within
//
// Example: 10, 20 and 19 rise within 5 %, because the smallest ratio is 19/20 = 0.95; 10, 20, 19 and 18.5 don't:
// 18.5/20 = 0.925.
func (t Trend) shapeCell(name string, figures []Figure) Cell {
	var f Figure
	switch t.Form {
	case constantForm:
		f = variation(figures)
	case risingForm:
		f = pooled(poolMin, ratiosToEarlier(figures))
	case fallingForm:
		f = pooled(poolMax, ratiosToEarlier(figures))
	case interiorMaximum:
		last := len(figures) - 1
		inside, ends := figures[1:last], []Figure{figures[0], figures[last]}
		f = quotient(pooled(poolMax, inside), pooled(poolMax, ends))
	default:
		panic(fmt.Sprintf("claim: a shape of the form %q", t.Form)) // Parse makes none
	}
	verdict := t.bounds().judge(f)
	if t.Form == interiorMaximum {
		verdict = atMost(1 + t.Within).judge(f).not() // a figure on the bound is not above it
	}
	return Cell{Name: name, Verdict: verdict, Figure: f, N: fewestRepetitions(figures), noRatio: !f.known()}
}

// bounds returns where the figure of a shape has to lie.
func (t Trend) bounds() Range {
	switch t.Form {
	case constantForm:
		return atMost(t.Within)
	case risingForm:
		return atLeast(1 - t.Within)
	case fallingForm:
		return atMost(1 + t.Within)
	}
	return atLeast(1 + t.Within) // without the bound itself
}

// variation returns (largest − smallest) / median. Its interval takes in what any choice of repetitions makes of it, and
// may be wider: at the low end it has the largest low end less the smallest high end, divided by the high end of the
// median. With 98 to 102 and 104 to 108 that is (104 − 102) / 105. There is none if the median may be zero.
func variation(figures []Figure) Figure {
	largest, smallest, middle := pooled(poolMax, figures), pooled(poolMin, figures), pooled(poolMedian, figures)
	if middle.Low <= 0 {
		return Figure{}
	}
	return Figure{
		Value: (largest.Value - smallest.Value) / middle.Value,
		Low:   max(0, largest.Low-smallest.High) / middle.High,
		High:  (largest.High - smallest.Low) / middle.Low,
		N:     middle.N,
		Unit:  unit.Share,
	}
}

// ratiosToEarlier returns the ratios of each figure to each one before it: 2, 3 and 1.5 for 10, 20 and 30.
func ratiosToEarlier(figures []Figure) []Figure {
	var ratios []Figure
	for i, later := range figures {
		for _, earlier := range figures[:i] {
			ratios = append(ratios, Figure{
				Value: ratio(earlier.Value, later.Value),
				Low:   ratio(earlier.High, later.Low),
				High:  ratio(earlier.Low, later.High),
				N:     min(earlier.N, later.N),
				Unit:  unit.Factor,
			})
		}
	}
	return ratios
}

// ratio returns later/earlier. From zero to more it is infinite, and from zero to zero 1: nothing changed.
func ratio(earlier, later float64) float64 {
	if later == earlier {
		return 1
	}
	return later / earlier
}
