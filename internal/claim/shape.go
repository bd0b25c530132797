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

// judgeShape judges the figures along an axis by one figure:
//
//	constant           (largest − smallest) / median             at most Within
//	rising             the smallest step, next / previous        at least 1 − Within
//	falling            the largest step                          at most 1 + Within
//	interior maximum   largest inside / larger of both ends      above 1 + Within
//
// Example: 10, 20 and 19 rise within 5 %, because the smallest step is 19/20 = 0.95.
func (t Trend) judgeShape(y []Figure) (Figure, Verdict) {
	var f Figure
	allowed := anywhere
	switch t.Form {
	case constantForm:
		f, allowed.To = variation(y), t.Within
	case risingForm:
		f, allowed.From = pooled(poolMin, neighbourRatios(y)), 1-t.Within
	case fallingForm:
		f, allowed.To = pooled(poolMax, neighbourRatios(y)), 1+t.Within
	case interiorMaximum:
		ends := []Figure{y[0], y[len(y)-1]}
		f = quotient(pooled(poolMax, y[1:len(y)-1]), pooled(poolMax, ends))
		allowed.From = (1 + t.Within) * (1 + 2*slack) // above it, by more than the slack of judge
	default:
		panic(fmt.Sprintf("claim: a shape of the form %q", t.Form)) // Parse makes none
	}
	return f, allowed.judge(f)
}

// variation is (largest − smallest) / median. Its lower end is what no choice of repetitions gets below: the largest lower end less
// the smallest upper end. There is none if the median is zero.
func variation(y []Figure) Figure {
	largest, smallest, middle := pooled(poolMax, y), pooled(poolMin, y), pooled(poolMedian, y)
	if middle.Value == 0 {
		return Figure{}
	}
	return Figure{
		Value: (largest.Value - smallest.Value) / middle.Value,
		Low:   max(0, largest.Low-smallest.High) / middle.Value,
		High:  (largest.High - smallest.Low) / middle.Value,
		N:     middle.N,
		Unit:  unit.Share,
	}
}

// neighbourRatios are the ratios of each figure to the one before: 2 and 1.5 for 10, 20 and 30. From zero to more it is infinite, from
// zero to zero 1.
func neighbourRatios(y []Figure) []Figure {
	ratio := func(next, previous float64) float64 {
		if next == previous {
			return 1
		}
		return next / previous
	}
	var ratios []Figure
	for i, next := range y[1:] {
		previous := y[i]
		ratios = append(ratios, Figure{
			Value: ratio(next.Value, previous.Value),
			Low:   ratio(next.Low, previous.High),
			High:  ratio(next.High, previous.Low),
			N:     min(next.N, previous.N),
			Unit:  unit.Factor,
		})
	}
	return ratios
}
