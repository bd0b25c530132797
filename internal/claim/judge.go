package claim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// evaluate answers a statement from the samples of one side of a study.
func (s Statement) evaluate(all []sample) Part {
	var p Part
	var err error
	switch s.Kind {
	case Ratio:
		p, err = s.ratio(all)
	case Rank:
		p, err = s.rank(all)
	case Threshold:
		p, err = s.threshold(all)
	case Slope, Shape:
		p, err = s.trend(all)
	default:
		panic(fmt.Sprintf("claim: a statement of the kind %q", s.Kind)) // Parse makes none
	}
	var undecided *undecidedError
	if errors.As(err, &undecided) {
		return Part{Verdict: CannotBeTold, Reason: undecided.reason, Why: undecided.why}
	}
	return s.conclude(p)
}

// threshold judges the metric in each cell.
func (s Statement) threshold(all []sample) (Part, error) {
	chosen, err := s.choose(all)
	if err != nil {
		return Part{}, err
	}
	p := Part{Closed: anyClosed(chosen, s.Metric)}
	for _, g := range grouped(chosen, s.cellAxes(chosen)) {
		f, err := s.figure(g, s.Metric)
		if err != nil {
			return Part{}, err
		}
		p.add(g.name, f, s.Expect.judge(f))
	}
	if len(p.Cells) == 0 {
		return Part{}, noFigure(chosen, s.Metric)
	}
	return p, nil
}

// add adds a cell that is judged by its figure. Without one the cell is missing.
func (p *Part) add(name string, f Figure, v Verdict) {
	if f.N == 0 {
		p.Missing++
		return
	}
	p.Cells = append(p.Cells, Cell{Name: name, Verdict: v, Figure: f, N: f.N})
}

// group is the samples of one cell.
type group struct {
	name    string // the values of the axes that make cells: "partitionsPerTopic=5 acks=all"
	samples []sample
}

// grouped groups samples by their values on axes, in the order of the first sample of each group.
func grouped(samples []sample, axes []string) []group {
	var groups []group
	for _, g := range results.GroupBy(samples, func(s sample) string { return s.valuesOn(axes) }) {
		groups = append(groups, group{name: g.Name, samples: g.Members})
	}
	return groups
}

// valuesOn names the sample's values on axes: "partitionsPerTopic=5 acks=all".
func (s sample) valuesOn(axes []string) string {
	var words []string
	for _, axis := range axes {
		if v, ok := s.value(axis); ok {
			words = append(words, axis+"="+v)
		}
	}
	return strings.Join(words, " ")
}

// cellAxes are the axes whose values make the cells: those that the statement gives or else all in which the samples differ, but
// for the ones that it compares along.
func (s Statement) cellAxes(samples []sample, compared ...string) []string {
	if s.OverGiven {
		return s.Over
	}
	values := results.Values{}
	for _, one := range samples {
		for axis := range one.point.Records[0].Axes {
			v, _ := one.value(axis)
			values.Add(axis, v)
		}
		if one.manyRates {
			v, _ := one.value(loadAxis)
			values.Add(loadAxis, v)
		}
	}
	return slices.DeleteFunc(values.Varying(), func(axis string) bool { return axis == sideAxis || slices.Contains(compared, axis) })
}

// figure is the figure of a cell, pooled if several of its samples have one. It is none if no sample has the metric.
func (s Statement) figure(g group, m results.Metric) (Figure, error) {
	var figures []Figure
	for _, one := range g.samples {
		if f := one.figure(m); f.N > 0 {
			figures = append(figures, f)
		}
	}
	switch {
	case len(figures) == 0:
		return Figure{}, nil
	case len(figures) == 1:
		return figures[0], nil
	case s.Pool == "":
		return Figure{}, ambiguous(g, fmt.Sprintf("of %s at %q", m.Name, g.name))
	}
	return pooled(s.pooling(m), figures), nil
}

// ambiguous is the error of a cell with several points and no way to pool them.
func ambiguous(g group, where string) error {
	return undecidedBecause(Misfit, "%d points %s: the claim has to name an axis in over, or how to pool them", len(g.samples), where)
}

// noFigure is the error of samples none of which has a figure.
func noFigure(samples []sample, m results.Metric) error {
	statuses := map[string]bool{}
	for _, s := range samples {
		if len(s.records) > 0 {
			return undecidedBecause(NoFigure, "no figure of %s", m.Name)
		}
		statuses[s.status] = true
	}
	return undecidedBecause(NoneUsable, "no repetition ended ok (%s)", strings.Join(results.Shorten(slices.Sorted(maps.Keys(statuses))), "; "))
}

// conclude makes the part's figure and verdict from its cells.
func (s Statement) conclude(p Part) Part {
	var figures, fits []Figure
	for _, c := range p.Cells {
		figures, fits = append(figures, c.Figure), append(fits, c.R2)
	}
	if _, poolsCells := poolings[s.Take]; poolsCells {
		p.Figure = pooled(s.Take, figures)
		p.Verdict = s.Expect.judge(p.Figure)
	} else {
		p.Figure, p.R2 = rangeOf(figures), rangeOf(fits)
		p.Verdict = s.overCells(p)
	}
	if p.Verdict == CannotBeTold {
		p.Reason, p.Why = s.whyOpen(p)
	}
	return p
}

// overCells is the verdict on cells that are judged one by one: all of them have to hold, or a share. Missing cells may turn out
// either way.
func (s Statement) overCells(p Part) Verdict {
	all := len(p.Cells) + p.Missing
	needed := all
	if s.Take == TakeShare {
		for needed = 0; float64(needed) < s.Share*float64(all)*(1-slack); {
			needed++
		}
	}
	switch {
	case p.Count(Holds) >= needed:
		return Holds
	case all-p.Count(DoesNotHold) < needed:
		return DoesNotHold
	}
	return CannotBeTold
}

// whyOpen is why the cells of a part don't decide it.
func (s Statement) whyOpen(p Part) (Reason, string) {
	open := p.Count(CannotBeTold)
	if open == 0 && p.Missing > 0 {
		return NoneUsable, fmt.Sprintf("%d of %d points have no repetition that ended ok", p.Missing, p.Missing+len(p.Cells))
	}
	if p.Figure.N == 0 && s.judgesFigure() {
		return NoFigure, "there is no ratio to zero"
	}
	if unknown := p.unknown(); len(unknown) > 0 {
		return NoneUsable, fmt.Sprintf("without a figure of %s the place is open", strings.Join(unknown, ", "))
	}
	why := "the repetitions lie on both sides"
	isOpenSingle := func(c Cell) bool { return c.Verdict == CannotBeTold && c.N == 1 }
	if slices.ContainsFunc(p.Cells, isOpenSingle) || (open == 0 && p.Repetitions() == 1) {
		why = "what is known of the figures allows for both"
	}
	if open > 0 && len(p.Cells) > 1 {
		why = fmt.Sprintf("in %d of %d places %s", open, len(p.Cells), why)
	}
	return WithinSpread, why
}

// unknown names the contenders without a figure that leave a cell open.
func (p Part) unknown() []string {
	var names []string
	for _, c := range p.Cells {
		names = append(names, c.Unknown...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// judgesFigure reports whether the verdict on a cell depends on its figure. The place of a contender and the sign of a slope don't.
func (s Statement) judgesFigure() bool {
	return s.Kind != Rank && (s.Kind != Slope || s.Change.Given())
}
