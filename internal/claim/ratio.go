package claim

import (
	"maps"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// ratio divides the measurements of one selection by those of another that have the same values on all axes but the
// compared ones. Example: the modes a and b were measured with 1 and with 50 topics. Then the ratio of a to b has two
// cells: with 1 topic and with 50.
func (s Statement) ratio(all []sample) (Part, error) {
	of, err := s.operand(s.Of).choose(all)
	if err != nil {
		return Part{}, err
	}
	to, err := s.operand(s.To).choose(all)
	if err != nil {
		return Part{}, err
	}
	axes := s.cellAxes(slices.Concat(of, to), s.comparedAxes()...)
	divisors := grouped(to, axes)
	p := Part{Closed: anyClosed(of, s.Of.Metric) || anyClosed(to, s.To.Metric)}
	for _, dividend := range grouped(of, axes) {
		i := slices.IndexFunc(divisors, func(g group) bool { return g.Name == dividend.Name })
		if i < 0 {
			continue
		}
		f, err := s.divide(dividend, divisors[i])
		if err != nil {
			return Part{}, err
		}
		both := group{Name: dividend.Name, Members: slices.Concat(dividend.Members, divisors[i].Members)}
		p.add(both, f, s.Expect.judge(f))
	}
	switch {
	case len(p.Cells) > 0:
		return p, nil
	case p.Missing == 0:
		return Part{}, undecidedBecause(TooFew, "no two points differ in nothing but what is compared")
	case !hasFigure(of, s.Of.Metric):
		return Part{}, noFigure(of, s.Of.Metric)
	case !hasFigure(to, s.To.Metric):
		return Part{}, noFigure(to, s.To.Metric)
	}
	return Part{}, undecidedBecause(NoFigure, "there is no ratio to zero")
}

// operand is what a ratio divides or divides by, with the statement's own selection on the axes that the operand
// doesn't mention.
func (s Statement) operand(o Selection) Selection {
	merged := Selector{}
	maps.Copy(merged, s.Select)
	maps.Copy(merged, o.Select)
	o.Select = merged
	return o
}

// comparedAxes are the axes on which the operands of a ratio differ on purpose.
func (s Statement) comparedAxes() []string {
	axes := slices.AppendSeq(slices.Collect(maps.Keys(s.Of.Select)), maps.Keys(s.To.Select))
	if !slices.Equal(s.Of.Experiments, s.To.Experiments) {
		axes = append(axes, sweepAxis)
	}
	return axes
}

// divide is the ratio in one cell. If both operands are the same measurement, two metrics of it are compared: then each
// repetition has a ratio of its own, which is more exact than dividing the spread of one metric by that of the other.
// Counts have no spread.
func (s Statement) divide(dividend, divisor group) (Figure, error) {
	a, b := dividend.Members, divisor.Members
	anyCounts := s.Of.Metric.Counts() || s.To.Metric.Counts()
	if areSingle := len(a) == 1 && len(b) == 1; areSingle && a[0].id == b[0].id && !anyCounts {
		return ratioWithin(a[0], s.Of.Metric, s.To.Metric), nil
	}
	of, err := s.cellFigure(s.Of.Metric, dividend)
	if err != nil {
		return Figure{}, err
	}
	to, err := s.cellFigure(s.To.Metric, divisor)
	if err != nil {
		return Figure{}, err
	}
	return quotient(of, to), nil
}

// ratioWithin is the ratio of two metrics of the same repetitions. Repetitions without one of them have none.
func ratioWithin(s sample, of, to results.Metric) Figure {
	of, to = of.AsRecorded(), to.AsRecorded()
	var ratios []float64
	for _, r := range s.records {
		if a, b := of.Of(r), to.Of(r); a >= 0 && b > 0 { // false for NaN
			ratios = append(ratios, a/b)
		}
	}
	return summarized(results.Summarize(ratios), unit.Factor)
}

func hasFigure(samples []sample, m results.Metric) bool {
	return slices.ContainsFunc(samples, func(s sample) bool { return s.figure(m).known() })
}
