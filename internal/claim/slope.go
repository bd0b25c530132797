package claim

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/unit"
)

// slopeCell judges readings, of which there are three at least: the change from the first figure to the last and its sign, and how well the
// least-squares line fits (R²). Example: 100, 90 and 71 messages/s at 1, 2 and 3 topics have a change of −29 % and an R² of 0.97.
func (t Trend) slopeCell(name string, rs readings) Cell {
	first, last := rs[0].y, rs[len(rs)-1].y
	change, fit := quotient(last, first).change(), rs.fit()
	verdict := Reproduced
	switch t.Sign {
	case risingForm:
		verdict = rises(first, last)
	case fallingForm:
		verdict = rises(last, first)
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

// rises reports whether the later figure is above the earlier one: equal ones neither rise nor fall. The slope of the least-squares line tells
// no more: it has the ends of all figures, and where these are equally wide it is never known better than the change.
func rises(earlier, later Figure) Verdict {
	switch {
	case later.Low > earlier.High*(1+slack):
		return Reproduced
	case later.High <= earlier.Low*(1+slack):
		return NotReproduced
	}
	return Undecided
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
