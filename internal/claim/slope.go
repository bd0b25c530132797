package claim

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/unit"
)

// slopeCell judges the least-squares line through readings, of which there are three at least: its sign, how well it
// fits (R²), and the change from the first figure to the last. Example: 100, 90 and 71 messages/s at 1, 2 and 3 topics
// have the slope −14.5, an R² of 0.97, and a change of −29 %.
func (t Trend) slopeCell(name string, rs readings) Cell {
	first, last := rs[0].y, rs[len(rs)-1].y
	change, fit := quotient(last, first).change(), rs.fit()
	verdict := Reproduced
	switch t.Sign { // a flat line neither rises nor falls
	case risingForm:
		verdict = atMost(0).judge(rs.slope()).not()
	case fallingForm:
		verdict = atLeast(0).judge(rs.slope()).not()
	}
	if t.R2 > 0 {
		verdict = verdict.and(atLeast(t.R2).judge(fit))
	}
	noRatio, rest := false, verdict
	if t.Change.Given() {
		verdict = verdict.and(t.Change.judge(change))
		noRatio = !change.known()
	}
	n := fewestRepetitions(rs.figures())
	return Cell{Name: name, Verdict: verdict, Figure: change, R2: fit, N: n, rest: rest, noRatio: noRatio}
}

// slope is the slope of the least-squares line, as an interval over all choices of one repetition of each reading. The
// slope is a weighted sum of the y. So it is lowest with the low end of every y that has a positive weight, and the high
// end of every other:
//
//	slope = Σ weight(i)·y(i)   with   weight(i) = (x(i) − x̄) / Σ (x(j) − x̄)²
//
// There is no slope if all x are equal, as 1024 and 1KiB are.
func (rs readings) slope() Figure {
	var meanX, squares float64
	for _, r := range rs {
		meanX += r.x / float64(len(rs))
	}
	for _, r := range rs {
		squares += (r.x - meanX) * (r.x - meanX)
	}
	if squares == 0 {
		return Figure{}
	}
	var values, lows, highs []float64
	for _, r := range rs {
		weight := (r.x - meanX) / squares
		if weight == 0 {
			continue // also where y.High is infinite, of which 0 times is no number
		}
		values = append(values, weight*r.y.Value)
		lows = append(lows, min(weight*r.y.Low, weight*r.y.High))
		highs = append(highs, max(weight*r.y.Low, weight*r.y.High))
	}
	return Figure{Value: sum(values), Low: sum(lows), High: sum(highs), N: fewestRepetitions(rs.figures())}
}

// sum adds up terms. It is 0 if they cancel but for rounding, as those of the slope of a flat line do.
func sum(terms []float64) float64 {
	total, magnitude := 0.0, 0.0
	for _, term := range terms {
		total += term
		magnitude += math.Abs(term)
	}
	if !math.IsInf(magnitude, 0) && math.Abs(total) <= slack*magnitude {
		return 0
	}
	return total
}

// fit returns R² of the medians. Its spread takes in the R² of each repetition that was made at every value of the axis,
// and not of all choices of repetitions: they are too many to go through.
func (rs readings) fit() Figure {
	var x, medians []float64
	isOpen := false // a figure has no upper bound, so that any line may fit, or none
	for _, r := range rs {
		x, medians = append(x, r.x), append(medians, r.y.Value)
		isOpen = isOpen || math.IsInf(r.y.High, 1)
	}
	r2 := rSquared(x, medians)
	fit := Figure{Value: r2, Low: r2, High: r2, N: fewestRepetitions(rs.figures()), Unit: unit.None}
	if isOpen {
		fit.Low, fit.High = 0, 1
		return fit
	}
	for number := range rs[0].repetitions { // none if figures are pooled
		if y := rs.repetition(number); len(y) == len(rs) {
			r2 := rSquared(x, y)
			fit.Low, fit.High = min(fit.Low, r2), max(fit.High, r2)
		}
	}
	return fit
}

// repetition returns the metric in the repetition with a number, at the values of the axis at which there is one.
func (rs readings) repetition(number int) []float64 {
	made := lists.Filter(rs, func(r reading) bool { _, ok := r.repetitions[number]; return ok })
	return lists.Map(made, func(r reading) float64 { return r.repetitions[number] })
}

// rSquared returns the coefficient of determination of the least-squares line through points. The result is 1 if all y
// are equal: the line leaves nothing unexplained.
func rSquared(x, y []float64) float64 {
	if slices.Min(y) == slices.Max(y) {
		return 1
	}
	r := stat.Correlation(x, y, nil)
	return r * r
}
