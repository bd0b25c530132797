package claim

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// Ways of taking several cells together, beside those of pooled.
const (
	TakeEach  = "each"
	TakeShare = "share"
)

func (s Statement) threshold(all []sample) Part {
	chosen, reason, why := selected(all, s.Experiments, s.At, s.Select)
	if reason != Decided {
		return open(reason, "%s", why)
	}
	p := Part{Closed: anyClosed(chosen, s.Metric)}
	for _, g := range s.cells(chosen) {
		f, ok := s.figure(g.samples, s.Metric)
		if !ok {
			return several(g, s.Metric.Name)
		}
		if f.N == 0 {
			p.Missing++
			continue
		}
		p.Cells = append(p.Cells, Cell{Name: g.name, Verdict: s.Expect.judge(f), Figure: f})
	}
	if len(p.Cells) == 0 {
		return none(chosen, s.Metric)
	}
	return s.decided(p)
}

func (s Statement) ratio(all []sample) Part {
	var sides [2][]sample
	for i, side := range []Side{s.Of, s.To} {
		chosen, reason, why := selected(all, side.Experiments, side.At, s.without(side), side.Select)
		if reason != Decided {
			return open(reason, "%s", why)
		}
		sides[i] = chosen
	}
	own := []string{sweepAxis}
	for _, side := range []Side{s.Of, s.To} {
		for axis := range side.Select {
			own = append(own, axis)
		}
	}
	if slices.Equal(s.Of.Experiments, s.To.Experiments) {
		own = own[1:]
	}
	of, to := s.cellsOf(sides, own)
	p := Part{Closed: anyClosed(sides[0], s.Of.Metric) || anyClosed(sides[1], s.To.Metric)}
	for _, a := range of {
		i := slices.IndexFunc(to, func(b group) bool { return a.name == b.name })
		if i < 0 {
			continue
		}
		f, bad := s.against(a, to[i])
		if bad != "" {
			return several(a, bad)
		}
		if f.N == 0 {
			p.Missing++
			continue
		}
		p.Cells = append(p.Cells, Cell{Name: a.name, Verdict: s.Expect.judge(f), Figure: f})
	}
	switch {
	case len(p.Cells) > 0:
		return s.decided(p)
	case p.Missing == 0:
		return open(TooFew, "no two points differ in nothing but what is compared")
	}
	for i, side := range []Side{s.Of, s.To} {
		if part := none(sides[i], side.Metric); part.Reason == NoneUsable || !slices.ContainsFunc(sides[i], func(m sample) bool { return m.figure(side.Metric).N > 0 }) {
			return part
		}
	}
	return open(NoFigure, "there is no ratio of zero")
}

// without is the statement's selection without what a side selects otherwise.
func (s Statement) without(side Side) Selector {
	out := Selector{}
	for axis, values := range s.Select {
		if _, own := side.Select[axis]; !own {
			out[axis] = values
		}
	}
	return out
}

// cellsOf groups both sides by the same axes.
func (s Statement) cellsOf(sides [2][]sample, own []string) (of, to []group) {
	if !s.OverGiven {
		s.Over, s.OverGiven = varying(slices.Concat(sides[0], sides[1]), own), true
	}
	return s.cells(sides[0]), s.cells(sides[1])
}

// against is the ratio of two cells. Of one and the same point it is that of each repetition. bad says what was too
// many for one figure.
func (s Statement) against(a, b group) (f Figure, bad string) {
	if len(a.samples) == 1 && len(b.samples) == 1 && a.samples[0].id == b.samples[0].id {
		return itself(a.samples[0], s.Of.Metric, s.To.Metric), ""
	}
	of, ok := s.figure(a.samples, s.Of.Metric)
	if !ok {
		return f, s.Of.Metric.Name
	}
	to, ok := s.figure(b.samples, s.To.Metric)
	if !ok {
		return f, s.To.Metric.Name
	}
	return quotient(of, to), ""
}

func itself(s sample, of, to results.Metric) Figure {
	var ratios []float64
	of, to = of.AsRecorded(), to.AsRecorded()
	for _, r := range s.records {
		if a, b := of.Of(r), to.Of(r); a >= 0 && b > 0 {
			ratios = append(ratios, a/b)
		}
	}
	if len(ratios) == 0 {
		return Figure{Unit: unit.Factor}
	}
	return figureOf(ratios, unit.Factor)
}

// along judges slopes and shapes: how a metric goes along an axis, in each cell.
func (s Statement) along(all []sample) Part {
	chosen, reason, why := selected(all, s.Experiments, s.At, s.Select)
	if reason != Decided {
		return open(reason, "%s", why)
	}
	p := Part{Closed: anyClosed(chosen, s.Metric)}
	short := 0
	for _, g := range s.cells(chosen, s.Along) {
		c, bad := s.course(g.samples)
		switch {
		case bad != "":
			return open(Misfit, "%s", bad)
		case len(c.figures) == 0:
			p.Missing++
			continue
		case len(c.figures) < s.least():
			short++
			continue
		}
		cell := s.judgeCourse(c)
		cell.Name = g.name
		p.Cells = append(p.Cells, cell)
	}
	switch {
	case len(p.Cells) > 0:
		p.Missing += short
		return s.decided(p)
	case short > 0:
		return open(TooFew, "fewer than %d values of %s were measured", s.least(), s.Along)
	}
	return none(chosen, s.Metric)
}

// least is how many points a course needs.
func (s Statement) least() int {
	if s.Kind == Slope || s.Form == interior {
		return 3
	}
	return 2
}

// course is a metric along an axis, in the order of its values.
type course struct {
	at      []float64 // NaN where the values of the axis measure nothing
	names   []string
	figures []Figure
	runs    []map[int]float64 // by repetition, where no pool stands between
}

func (s Statement) course(g []sample) (c course, bad string) {
	byValue := map[string][]sample{}
	for _, m := range g {
		v, ok := m.value(s.Along)
		if !ok {
			return c, fmt.Sprintf("no point has an axis or a setting %q", s.Along)
		}
		byValue[v] = append(byValue[v], m)
	}
	var names []string
	for v := range byValue {
		names = append(names, v)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, okx := results.Magnitude(a)
		y, oky := results.Magnitude(b)
		if okx && oky && x != y {
			return int(math.Copysign(1, x-y))
		}
		return results.CompareNames(a, b)
	})
	for _, v := range names {
		f, ok := s.figure(byValue[v], s.Metric)
		if !ok {
			return c, fmt.Sprintf("%d points at %s=%s: the claim has to name an axis in over, or how to pool them", len(byValue[v]), s.Along, v)
		}
		if f.N == 0 {
			continue
		}
		x, number := results.Magnitude(v)
		if !number {
			if x = math.NaN(); s.Kind == Slope {
				return c, fmt.Sprintf("%s=%s is no number, so there is no line along it", s.Along, v)
			}
		}
		c.at, c.names, c.figures = append(c.at, x), append(c.names, v), append(c.figures, f)
		c.runs = append(c.runs, s.runs(byValue[v]))
	}
	return c, ""
}

// runs are the figures of each repetition of the only sample there is.
func (s Statement) runs(g []sample) map[int]float64 {
	if len(g) != 1 {
		return nil
	}
	out := map[int]float64{}
	m := s.Metric.AsRecorded()
	for _, r := range g[0].records {
		if v := m.Of(r); !math.IsNaN(v) {
			out[r.Repetition] = v
		}
	}
	return out
}

func (s Statement) judgeCourse(c course) Cell {
	if s.Kind == Shape {
		return s.judgeShape(c.figures)
	}
	first, last := c.figures[0], c.figures[len(c.figures)-1]
	cell := Cell{Verdict: Holds, Figure: quotient(last, first), R2: c.r2()}
	if cell.Figure.N > 0 {
		cell.Figure = Figure{cell.Figure.Value - 1, cell.Figure.Low - 1, cell.Figure.High - 1, cell.Figure.N, unit.Share}
	}
	if s.Sign != 0 {
		slope := slopeOf(c.at, c.figures)
		rising := Range{math.SmallestNonzeroFloat64, math.Inf(1)}
		if s.Sign < 0 {
			rising = Range{math.Inf(-1), -math.SmallestNonzeroFloat64}
		}
		cell.Verdict = both(cell.Verdict, rising.judge(slope))
	}
	if s.R2 > 0 {
		cell.Verdict = both(cell.Verdict, Range{s.R2, 1}.judge(cell.R2))
	}
	if s.Change.Given() {
		cell.Verdict = both(cell.Verdict, s.Change.judge(cell.Figure))
	}
	return cell
}

// r2 says how well a line fits the medians, within how well it fits each repetition.
func (c course) r2() Figure {
	var y []float64
	fewest := c.figures[0].N
	for _, f := range c.figures {
		y, fewest = append(y, f.Value), min(fewest, f.N)
	}
	of := fit(c.at, y).r2
	out := Figure{of, of, of, fewest, unit.None}
	if c.runs[0] == nil {
		return out
	}
	for repetition := range c.runs[0] {
		var run []float64
		for _, all := range c.runs {
			if v, ok := all[repetition]; ok {
				run = append(run, v)
			}
		}
		if len(run) == len(c.at) {
			one := fit(c.at, run).r2
			out.Low, out.High = min(out.Low, one), max(out.High, one)
		}
	}
	return out
}

// Forms of a shape.
const (
	constantForm = "constant"
	rising       = "rising"
	falling      = "falling"
	interior     = "interior maximum"
)

var forms = []string{constantForm, rising, falling, interior}

// judgeShape holds a course against a form by one figure:
//
//	constant           (largest − smallest) / median             at most Within
//	rising             the smallest step, next / previous        at least 1 − Within
//	falling            the largest step                          at most 1 + Within
//	interior maximum   largest inside / larger of both ends      above 1 + Within
func (s Statement) judgeShape(y []Figure) Cell {
	var f Figure
	within := anywhere
	switch s.Form {
	case constantForm:
		top, bottom, mid := pooled("max", y), pooled("min", y), pooled("median", y)
		least := max(0, pooled("max", ends(y, false)).Value-pooled("min", ends(y, true)).Value)
		if mid.Value == 0 {
			return Cell{Verdict: within.judge(Figure{})} // a share of nothing
		}
		f = Figure{(top.Value - bottom.Value) / mid.Value, least / mid.Value, (top.High - bottom.Low) / mid.Value, mid.N, unit.Share}
		within.To = s.Within
	case interior:
		inside, outside := pooled("max", y[1:len(y)-1]), pooled("max", []Figure{y[0], y[len(y)-1]})
		f = quotient(inside, outside)
		within.From = (1 + s.Within) * (1 + 2*slack) // above, also by more than what judge forgives
	default:
		var steps []Figure
		for i := range y[1:] {
			steps = append(steps, quotient(y[i+1], y[i]))
		}
		if f = pooled("min", steps); s.Form == falling {
			f = pooled("max", steps)
			within.To = 1 + s.Within
		} else {
			within.From = 1 - s.Within
		}
	}
	return Cell{Verdict: within.judge(f), Figure: f}
}

// ends are figures of nothing but their upper ends, or their lower ones.
func ends(y []Figure, high bool) []Figure {
	out := slices.Clone(y)
	for i, f := range out {
		if out[i].Value = f.Low; high {
			out[i].Value = f.High
		}
	}
	return out
}
