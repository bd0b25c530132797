package claim

import (
	"math"

	"github.com/brokermark/brokermark/internal/unit"
)

// Turn says how far a statement's bound could move: with a Bound beyond At the answer would be another. The zero value says nothing, because
// the statement has no bound, or no other value of one alone would turn the answer.
type Turn struct {
	Bound, At float64
	Unit      unit.Unit
}

// Given reports whether t says anything.
func (t Turn) Given() bool { return t != Turn{} }

// addTurns adds to the parts of a decided answer what would turn it, by the confidence intervals that decided it. Where a claim is not
// reproduced, the statements that don't refute it have no say.
func (c Claim) addTurns(a *Answer, samples []sample, alpha float64) {
	for i, s := range c.Statements {
		if p := s.pointsTo(samples, c.shared(*a, alpha)); p.PointsTo == a.PointsTo {
			a.Parts[i].Turn = s.turn(p)
		}
	}
}

// turn finds the Turn of the bound that has to move least. A verdict changes only where a bound passes an end of a figure. Example: three
// cells have figures from 1.4 to 1.6, 1.5 to 1.9 and 2 to 2.2, and each has to be 1.2 or more. If the bound is beyond 1.4, they are not any longer.
func (s Statement) turn(p Part) Turn {
	bounds, ends := s.bounds(), []float64{p.Figure.Low, p.Figure.High}
	for _, c := range p.Cells {
		ends = append(ends, c.Figure.Low, c.Figure.High)
	}
	least := Turn{}
	consider := func(bound, end float64, moved Range) {
		isNearer := !least.Given() || math.Abs(end-bound) < math.Abs(least.At-least.Bound)
		if isNearer && moved.From <= moved.To && s.within(moved, p).PointsTo != p.PointsTo {
			least = Turn{Bound: bound, At: end, Unit: p.Figure.Unit}
		}
	}
	for _, end := range ends {
		if math.IsInf(end, 0) {
			continue
		}
		if !math.IsInf(bounds.From, 0) {
			consider(bounds.From, end, Range{From: beyond(bounds.From, end), To: bounds.To})
		}
		if !math.IsInf(bounds.To, 0) {
			consider(bounds.To, end, Range{From: bounds.From, To: beyond(bounds.To, end)})
		}
	}
	return least
}

// beyond returns a value just beyond end, as seen from bound.
func beyond(bound, end float64) float64 {
	return end + math.Copysign(3*slack*math.Abs(end), end-bound)
}

// bounds returns where the figure of a cell has to lie.
func (s Statement) bounds() Range {
	switch {
	case s.Kind == Ratio, s.Kind == Threshold:
		return s.Expect
	case s.Kind == Slope:
		return s.Change
	case s.Kind == Shape:
		return s.Trend.bounds()
	}
	return anywhere
}

// within returns a part as if the statement had other bounds.
func (s Statement) within(bounds Range, p Part) Part {
	s.Expect = bounds // all that conclude reads of it
	cells := p.Cells
	p.Cells = nil
	for _, c := range cells {
		c.Verdict = bounds.judge(c.Figure)
		if c.rest != "" {
			c.Verdict = c.Verdict.and(c.rest)
		}
		p.Cells = append(p.Cells, c)
	}
	return s.conclude(p)
}
