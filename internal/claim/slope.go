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

// slopeCell judges the least-squares line through a series: its sign, how well it fits (R²), and the change from the first figure to the
// last. Example: 100, 90 and 71 messages/s at 1, 2 and 3 topics have the slope −14.5, an R² of 0.97, and a change of −29 %.
func (t Trend) slopeCell(name string, line series) Cell {
	first, last := line[0].y, line[len(line)-1].y
	cell := Cell{Name: name, Verdict: Holds, Figure: quotient(last, first).change(), R2: line.fit(), N: fewestRepetitions(line.figures())}
	switch t.Sign {
	case risingForm:
		cell.Verdict = aboveZero.judge(line.slope())
	case fallingForm:
		cell.Verdict = belowZero.judge(line.slope())
	}
	if t.R2 > 0 {
		cell.Verdict = cell.Verdict.and(Range{From: t.R2, To: 1}.judge(cell.R2))
	}
	if t.Change.Given() {
		cell.Verdict = cell.Verdict.and(t.Change.judge(cell.Figure))
	}
	return cell
}

// slope is the interval of the slope through one repetition of each reading. The slope is linear in every y, so its ends come from
// their ends:
//
//	slope = Σ w(i)·y(i)   with   w(i) = (x(i) − x̄) / Σ (x(j) − x̄)²
//
// An end that comes from rounding alone is 0: a flat line neither rises nor falls.
func (line series) slope() Figure {
	center, squares, terms := 0.0, 0.0, 0.0
	for _, at := range line {
		center += at.x / float64(len(line))
	}
	for _, at := range line {
		squares += (at.x - center) * (at.x - center)
	}
	slope := Figure{N: fewestRepetitions(line.figures())}
	for _, at := range line {
		w := (at.x - center) / squares
		slope.Value += w * at.y.Value
		slope.Low += min(w*at.y.Low, w*at.y.High)
		slope.High += max(w*at.y.Low, w*at.y.High)
		terms += math.Abs(w) * max(math.Abs(at.y.Low), math.Abs(at.y.High))
	}
	for _, end := range []*float64{&slope.Value, &slope.Low, &slope.High} {
		if math.Abs(*end) <= slack*terms {
			*end = 0
		}
	}
	return slope
}

// fit is R² of the medians. Its spread is that of the repetitions that were made at every value.
func (line series) fit() Figure {
	var x, medians []float64
	for _, at := range line {
		x, medians = append(x, at.x), append(medians, at.y.Value)
	}
	r2 := rSquared(x, medians)
	fit := Figure{Value: r2, Low: r2, High: r2, N: fewestRepetitions(line.figures()), Unit: unit.None}
	for repetition := range line[0].repetitions {
		var values []float64
		for _, at := range line {
			if v, ok := at.repetitions[repetition]; ok {
				values = append(values, v)
			}
		}
		if len(values) == len(line) {
			r2 := rSquared(x, values)
			fit.Low, fit.High = min(fit.Low, r2), max(fit.High, r2)
		}
	}
	return fit
}

// rSquared is the coefficient of determination of the least-squares line through points. It is 1 if all y are equal: the line
// leaves nothing unexplained.
func rSquared(x, y []float64) float64 {
	if slices.Min(y) == slices.Max(y) {
		return 1
	}
	r := stat.Correlation(x, y, nil)
	return r * r
}
