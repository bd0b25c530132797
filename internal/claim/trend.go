package claim

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// Forms of a shape.
const (
	constantForm    = "constant"
	risingForm      = "rising"
	fallingForm     = "falling"
	interiorMaximum = "interior maximum"
)

var forms = []string{constantForm, risingForm, fallingForm, interiorMaximum}

// series is a metric along an axis, in the order of the axis' values.
type series struct {
	x []float64 // the values of the axis as numbers; only for a slope
	y []Figure
	// repetitions holds for each value the metric of each repetition, by its number; nil for pooled figures.
	repetitions []map[int]float64
}

// trend judges slopes and shapes: how the metric goes along an axis, in each cell.
func (s Statement) trend(all []sample) (Part, error) {
	chosen, err := s.choose(all)
	if err != nil {
		return Part{}, err
	}
	p := Part{Closed: anyClosed(chosen, s.Metric)}
	tooShort := 0
	for _, g := range grouped(chosen, s.cellAxes(chosen, s.Along)) {
		line, err := s.series(g)
		switch {
		case err != nil:
			return Part{}, err
		case len(line.y) == 0:
			p.Missing++
			continue
		case len(line.y) < s.leastValues():
			tooShort++
			continue
		}
		cell := Cell{Name: g.name, N: pooled(poolMedian, line.y).N}
		if s.Kind == Shape {
			cell.Figure, cell.Verdict = s.judgeShape(line.y)
		} else {
			cell.Figure, cell.R2 = quotient(line.y[len(line.y)-1], line.y[0]).change(), line.fit()
			cell.Verdict = s.judgeSlope(line, cell)
		}
		p.Cells = append(p.Cells, cell)
	}
	switch {
	case len(p.Cells) > 0:
		p.Missing += tooShort
		return p, nil
	case tooShort > 0:
		return Part{}, undecidedBecause(TooFew, "fewer than %d values of %s were measured", s.leastValues(), s.Along)
	}
	return Part{}, noFigure(chosen, s.Metric)
}

// leastValues is how many values of the axis a statement needs: two always lie on a line and have no interior.
func (s Statement) leastValues() int {
	if s.Kind == Slope || s.Form == interiorMaximum {
		return 3
	}
	return 2
}

// series is the metric of a cell along the axis, without the values at which it isn't known.
func (s Statement) series(g group) (series, error) {
	var line series
	byValue := map[string][]sample{}
	var values []string
	for _, one := range g.samples {
		v, ok := one.value(s.Along)
		if !ok {
			return series{}, undecidedBecause(Misfit, "no point has an axis or a setting %q", s.Along)
		}
		if byValue[v] == nil {
			values = append(values, v)
		}
		byValue[v] = append(byValue[v], one)
	}
	slices.SortFunc(values, compareValues)
	for _, v := range values {
		at := group{name: g.name, samples: byValue[v]}
		f, err := s.figure(at, s.Metric)
		if err != nil {
			return series{}, ambiguous(at, fmt.Sprintf("at %s=%s", s.Along, v))
		}
		if f.N == 0 {
			continue
		}
		if s.Kind == Slope {
			x, ok := results.Magnitude(v)
			if !ok {
				return series{}, undecidedBecause(Misfit, "%s=%s is no number, so there is no line along it", s.Along, v)
			}
			line.x = append(line.x, x)
		}
		line.y, line.repetitions = append(line.y, f), append(line.repetitions, repetitionsOf(at.samples, s.Metric))
	}
	return line, nil
}

// compareValues orders values of an axis by what they measure or, if they measure nothing, by name.
func compareValues(a, b string) int {
	x, xOK := results.Magnitude(a)
	y, yOK := results.Magnitude(b)
	if xOK && yOK && x != y {
		return int(math.Copysign(1, x-y))
	}
	return results.CompareNames(a, b)
}

// repetitionsOf is the metric of each repetition of the only sample. It is nil for several samples.
func repetitionsOf(samples []sample, m results.Metric) map[int]float64 {
	if len(samples) != 1 {
		return nil
	}
	values := map[int]float64{}
	m = m.AsRecorded()
	for _, r := range samples[0].records {
		if v := m.Of(r); !math.IsNaN(v) {
			values[r.Repetition] = v
		}
	}
	return values
}

// judgeSlope judges the sign of the line through a series, how well it fits, and the change from end to end.
func (s Statement) judgeSlope(line series, c Cell) Verdict {
	v := Holds
	switch {
	case s.Sign > 0:
		v = v.and(Range{From: math.SmallestNonzeroFloat64, To: math.Inf(1)}.judge(slopeOf(line.x, line.y)))
	case s.Sign < 0:
		v = v.and(Range{From: math.Inf(-1), To: -math.SmallestNonzeroFloat64}.judge(slopeOf(line.x, line.y)))
	}
	if s.R2 > 0 {
		v = v.and(Range{From: s.R2, To: 1}.judge(c.R2))
	}
	if s.Change.Given() {
		v = v.and(s.Change.judge(c.Figure))
	}
	return v
}

// fit is R² of the medians. Its spread is that of the repetitions that were made at every value.
func (line series) fit() Figure {
	var medians []float64
	for _, f := range line.y {
		medians = append(medians, f.Value)
	}
	r2 := rSquared(line.x, medians)
	fit := Figure{Value: r2, Low: r2, High: r2, N: pooled(poolMedian, line.y).N, Unit: unit.None}
	for repetition := range line.repetitions[0] {
		var values []float64
		for _, at := range line.repetitions {
			if v, ok := at[repetition]; ok {
				values = append(values, v)
			}
		}
		if len(values) == len(line.x) {
			r2 := rSquared(line.x, values)
			fit.Low, fit.High = min(fit.Low, r2), max(fit.High, r2)
		}
	}
	return fit
}

// judgeShape judges a series by one figure:
//
//	constant           (largest − smallest) / median             at most Within
//	rising             the smallest step, next / previous        at least 1 − Within
//	falling            the largest step                          at most 1 + Within
//	interior maximum   largest inside / larger of both ends      above 1 + Within
func (s Statement) judgeShape(y []Figure) (Figure, Verdict) {
	allowed := anywhere
	var f Figure
	switch s.Form {
	case constantForm:
		f, allowed.To = variation(y), s.Within
	case risingForm:
		f, allowed.From = pooled(poolMin, steps(y)), 1-s.Within
	case fallingForm:
		f, allowed.To = pooled(poolMax, steps(y)), 1+s.Within
	case interiorMaximum:
		ends := []Figure{y[0], y[len(y)-1]}
		f = quotient(pooled(poolMax, y[1:len(y)-1]), pooled(poolMax, ends))
		allowed.From = (1 + s.Within) * (1 + 2*slack) // above it, by more than the slack of judge
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
		N:     middle.N, Unit: unit.Share,
	}
}

// steps are the ratios of neighbours. A step up from zero is infinite, one from zero to zero is 1.
func steps(y []Figure) []Figure {
	ratio := func(next, previous float64) float64 {
		if next == previous {
			return 1
		}
		return next / previous
	}
	var steps []Figure
	for i, next := range y[1:] {
		previous := y[i]
		steps = append(steps, Figure{
			Value: ratio(next.Value, previous.Value), Low: ratio(next.Low, previous.High), High: ratio(next.High, previous.Low),
			N: min(next.N, previous.N), Unit: unit.Factor,
		})
	}
	return steps
}
