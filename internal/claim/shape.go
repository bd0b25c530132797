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

// shapeCell judges a series, which are figures along an axis, by one figure made of them:
//
//	constant           (largest − smallest) / median                       at most Within
//	rising             the smallest ratio of a figure to an earlier one    at least 1 − Within
//	falling            the largest such ratio                              at most 1 + Within
//	interior maximum   largest inside / larger of both ends                above 1 + Within
//
// Example: 10, 20 and 19 rise within 5 %, because the smallest ratio is 19/20 = 0.95; 10, 20, 19 and 18.5 don't: 18.5/20 = 0.925.
func (t Trend) shapeCell(name string, line series) Cell {
	y := line.figures()
	var f Figure
	allowed := anywhere
	switch t.Form {
	case constantForm:
		f = variation(y)
		allowed.To = t.Within
	case risingForm:
		f = pooled(poolMin, ratiosToEarlier(y))
		allowed.From = 1 - t.Within
	case fallingForm:
		f = pooled(poolMax, ratiosToEarlier(y))
		allowed.To = 1 + t.Within
	case interiorMaximum:
		inside, ends := y[1:len(y)-1], []Figure{y[0], y[len(y)-1]}
		f = quotient(pooled(poolMax, inside), pooled(poolMax, ends))
		// A figure equal to 1 + Within is not above it. Range.judge takes slack off From, so twice that is put on top.
		allowed.From = (1 + t.Within) * (1 + 2*slack)
	default:
		panic(fmt.Sprintf("claim: a shape of the form %q", t.Form)) // Parse makes none
	}
	return Cell{Name: name, Verdict: allowed.judge(f), Figure: f, N: fewestRepetitions(y), noRatio: !f.known()}
}

// variation is (largest − smallest) / median. Its interval has what any choice of repetitions makes of it, and may be wider:
// the largest low end less the smallest high end, divided by the largest median, is its low end. With 98 to 102 and 104 to
// 108 the low end is (104 − 102) / 105. There is none if the median may be zero.
func variation(y []Figure) Figure {
	largest, smallest, middle := pooled(poolMax, y), pooled(poolMin, y), pooled(poolMedian, y)
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

// ratiosToEarlier are the ratios of each figure to each one before it: 2, 3 and 1.5 for 10, 20 and 30.
func ratiosToEarlier(y []Figure) []Figure {
	var ratios []Figure
	for i, later := range y {
		for _, earlier := range y[:i] {
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

// ratio is later/earlier. From zero to more it is infinite, from zero to zero 1.
func ratio(earlier, later float64) float64 {
	if later == earlier {
		return 1
	}
	return later / earlier
}
