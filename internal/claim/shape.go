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
//	constant           (largest − smallest) / median             at most Within
//	rising             the smallest step, next / previous        at least 1 − Within
//	falling            the largest step                          at most 1 + Within
//	interior maximum   largest inside / larger of both ends      above 1 + Within
//
// Example: 10, 20 and 19 rise within 5 %, because the smallest step is 19/20 = 0.95.
func (t Trend) shapeCell(name string, line series) Cell {
	y := line.figures()
	var f Figure
	allowed := anywhere
	switch t.Form {
	case constantForm:
		f = variation(y)
		allowed.To = t.Within
	case risingForm:
		f = pooled(poolMin, steps(y))
		allowed.From = 1 - t.Within
	case fallingForm:
		f = pooled(poolMax, steps(y))
		allowed.To = 1 + t.Within
	case interiorMaximum:
		inside, ends := y[1:len(y)-1], []Figure{y[0], y[len(y)-1]}
		f = quotient(pooled(poolMax, inside), pooled(poolMax, ends))
		// A figure equal to 1 + Within is not above it. Range.judge takes slack off From, so twice that is put on top.
		allowed.From = (1 + t.Within) * (1 + 2*slack)
	default:
		panic(fmt.Sprintf("claim: a shape of the form %q", t.Form)) // Parse makes none
	}
	return Cell{Name: name, Verdict: allowed.judge(f), Figure: f, N: fewestRepetitions(y)}
}

// variation is (largest − smallest) / median. Its low end is what no choice of repetitions gets below: the largest low
// end less the smallest high end. With 98 to 102 and 104 to 108 it is 104 − 102 = 2, divided by the median. There is
// none if the median is zero.
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

// steps are the ratios of each figure to the one before: 2 and 1.5 for 10, 20 and 30.
func steps(y []Figure) []Figure {
	var ratios []Figure
	for i := 1; i < len(y); i++ {
		previous, next := y[i-1], y[i]
		ratios = append(ratios, Figure{
			Value: step(previous.Value, next.Value),
			Low:   step(previous.High, next.Low),
			High:  step(previous.Low, next.High),
			N:     min(next.N, previous.N),
			Unit:  unit.Factor,
		})
	}
	return ratios
}

// step is next/previous. From zero to more it is infinite, from zero to zero 1.
func step(previous, next float64) float64 {
	if next == previous {
		return 1
	}
	return next / previous
}
