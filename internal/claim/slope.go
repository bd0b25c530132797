package claim

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/brokermark/brokermark/internal/unit"
)

// Where the slope of a rising and of a falling line lies. Zero is neither.
var (
	aboveZero = Range{From: math.SmallestNonzeroFloat64, To: math.Inf(1)}
	belowZero = Range{From: math.Inf(-1), To: -math.SmallestNonzeroFloat64}
)

// slopeCell judges the least-squares line through a series of figures y at values x: its sign, how well it fits (R²), and the change from the
// first figure to the last. Example: 100, 90 and 71 messages/s at 1, 2 and 3 topics have the slope −14.5, an R² of
// 0.97, and a change of −29 %.
func (t Trend) slopeCell(name string, line series) Cell {
	first, last := line[0].y, line[len(line)-1].y
	change, fit := quotient(last, first).change(), line.fit()
	verdict := Holds
	switch t.Sign {
	case risingForm:
		verdict = aboveZero.judge(line.slope())
	case fallingForm:
		verdict = belowZero.judge(line.slope())
	}
	if t.R2 > 0 {
		verdict = verdict.and(Range{From: t.R2, To: 1}.judge(fit))
	}
	if t.Change.Given() {
		verdict = verdict.and(t.Change.judge(change))
	}
	noRatio := t.Change.Given() && !change.known()
	return Cell{Name: name, Verdict: verdict, Figure: change, R2: fit, N: fewestRepetitions(line.figures()), noRatio: noRatio}
}

// slope is the slope of the least-squares line, as an interval over all choices of one repetition of each reading. The
// slope is a weighted sum of the y. So it is lowest with the low end of every y that has a positive weight, and the high
// end of every other:
//
//	slope = Σ weight(i)·y(i)   with   weight(i) = (x(i) − x̄) / Σ (x(j) − x̄)²
//
// A flat line neither rises nor falls, though the sum may differ from 0 by rounding: such an end is made 0.
func (line series) slope() Figure {
	var meanX, squares float64
	for _, r := range line {
		meanX += r.x / float64(len(line))
	}
	for _, r := range line {
		squares += (r.x - meanX) * (r.x - meanX)
	}
	var value, low, high float64
	var magnitudes float64 // sum of the terms without their signs, of which rounding is a tiny share
	for _, r := range line {
		weight := (r.x - meanX) / squares
		value += weight * r.y.Value
		low += min(weight*r.y.Low, weight*r.y.High)
		high += max(weight*r.y.Low, weight*r.y.High)
		magnitudes += math.Abs(weight) * max(math.Abs(r.y.Low), math.Abs(r.y.High))
	}
	withoutRounding := func(v float64) float64 {
		if math.Abs(v) <= slack*magnitudes {
			return 0
		}
		return v
	}
	n := fewestRepetitions(line.figures())
	return Figure{Value: withoutRounding(value), Low: withoutRounding(low), High: withoutRounding(high), N: n}
}

// fit is R² of the medians. Its spread takes in the R² of each repetition that was made at every value of the axis.
func (line series) fit() Figure {
	var x, medians []float64
	for _, r := range line {
		x, medians = append(x, r.x), append(medians, r.y.Value)
	}
	r2 := rSquared(x, medians)
	fit := Figure{Value: r2, Low: r2, High: r2, N: fewestRepetitions(line.figures()), Unit: unit.None}
	for number := range line[0].repetitions {
		if y := line.repetition(number); len(y) == len(line) {
			r2 := rSquared(x, y)
			fit.Low, fit.High = min(fit.Low, r2), max(fit.High, r2)
		}
	}
	return fit
}

// repetition is the metric in the repetition with a number, at the values of the axis at which there is one.
func (line series) repetition(number int) []float64 {
	var y []float64
	for _, r := range line {
		if v, ok := r.repetitions[number]; ok {
			y = append(y, v)
		}
	}
	return y
}

// rSquared is the coefficient of determination of the least-squares line through points. It is 1 if all y are equal:
// the line leaves nothing unexplained.
func rSquared(x, y []float64) float64 {
	if slices.Min(y) == slices.Max(y) {
		return 1
	}
	r := stat.Correlation(x, y, nil)
	return r * r
}
