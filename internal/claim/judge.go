package claim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// Evaluate answers a claim by the records of a study on one side: Then, Now or Published.
func Evaluate(c Claim, set *results.Set, study, when string) Answer {
	if c.Undecidable != "" {
		return Answer{Verdict: CannotBeTold, Reason: Undecidable, Why: c.Undecidable}
	}
	all := samples(set.Points, study, when)
	if len(all) == 0 {
		return Answer{Verdict: CannotBeTold, Reason: NothingMeasured, Why: "nothing was measured"}
	}
	a := Answer{Verdict: Holds}
	for _, s := range c.Statements {
		p := s.evaluate(all)
		a.Parts = append(a.Parts, p)
		a.Closed = a.Closed || p.Closed
		if v := both(a.Verdict, p.Verdict); v != a.Verdict {
			a.Verdict, a.Reason, a.Why = v, p.Reason, p.Why
		}
	}
	return a
}

// Sides lists the sides that a study has measured records of, Then first.
func Sides(set *results.Set, study string) []string {
	var out []string
	for _, when := range []string{Then, Now} {
		if len(samples(set.Points, study, when)) > 0 {
			out = append(out, when)
		}
	}
	return out
}

func open(reason Reason, format string, args ...any) Part {
	return Part{Verdict: CannotBeTold, Reason: reason, Why: fmt.Sprintf(format, args...)}
}

func (s Statement) evaluate(all []sample) Part {
	switch s.Kind {
	case Ratio:
		return s.ratio(all)
	case Rank:
		return s.rank(all)
	case Threshold:
		return s.threshold(all)
	}
	return s.along(all) // slope and shape
}

// group is the samples of one cell.
type group struct {
	name    string
	samples []sample
}

// cells groups samples by the axes of Over; own are the axes that the statement itself goes by.
func (s Statement) cells(all []sample, own ...string) []group {
	over := s.Over
	if !s.OverGiven {
		over = varying(all, own)
	}
	byName := map[string]int{}
	var out []group
	for _, m := range all {
		name := place(m, over)
		i, there := byName[name]
		if !there {
			i = len(out)
			byName[name] = i
			out = append(out, group{name: name})
		}
		out[i].samples = append(out[i].samples, m)
	}
	return out
}

// varying are the axes in which samples differ, without those of own, the sides' and, where own speaks of it, the sweep.
func varying(all []sample, own []string) []string {
	values := results.Values{}
	for _, m := range all {
		for axis := range m.point.Records[0].Axes {
			v, _ := m.value(axis)
			values.Add(axis, v)
		}
		if m.load > 0 && m.several {
			values.Add(loadAxis, fmt.Sprint(m.load))
		}
	}
	var out []string
	for _, axis := range values.Varying() {
		if axis != whenAxis && !slices.Contains(own, axis) {
			out = append(out, axis)
		}
	}
	return out
}

func place(m sample, over []string) string {
	var words []string
	for _, axis := range over {
		if v, ok := m.value(axis); ok {
			words = append(words, axis+"="+v)
		}
	}
	return strings.Join(words, " ")
}

// figure makes one figure of the samples of a cell: where there are several, Pool says how.
func (s Statement) figure(g []sample, m results.Metric) (Figure, bool) {
	var figures []Figure
	for _, one := range g {
		if f := one.figure(m); f.N > 0 {
			figures = append(figures, f)
		}
	}
	switch {
	case len(figures) == 0:
		return Figure{}, true
	case len(figures) == 1:
		return figures[0], true
	case s.Pool == "":
		return Figure{}, false
	}
	return pooled(s.way(m), figures), true
}

// way is Pool, with "best" put into the direction of the metric.
func (s Statement) way(m results.Metric) string {
	switch {
	case s.Pool != "best":
		return s.Pool
	case s.Lowest || m.Better == results.Lower:
		return "min"
	}
	return "max"
}

// several is the answer where a cell holds more points than the statement can make one figure of.
func several(g group, what string) Part {
	return open(Misfit, "%d points of %s at %q: the claim has to name an axis in over, or how to pool them", len(g.samples), what, g.name)
}

// decided makes the part's verdict of its cells.
func (s Statement) decided(p Part) Part {
	if len(p.Cells) == 0 {
		return p
	}
	var figures, fits []Figure
	for _, c := range p.Cells {
		figures, fits = append(figures, c.Figure), append(fits, c.R2)
	}
	if _, combines := ways[s.Take]; combines {
		p.Figure = pooled(s.Take, figures)
		p.Verdict = s.Expect.judge(p.Figure)
	} else {
		p.Figure, p.R2 = extremes(figures), extremes(fits)
		p.Verdict = s.shared(p)
	}
	if p.Verdict == CannotBeTold && p.Reason == Decided {
		p.Reason, p.Why = s.undecided(p)
	}
	return p
}

// extremes keep the median of several figures with the ends of all of them.
func extremes(figures []Figure) Figure {
	f := pooled("median", figures)
	if f.N > 0 {
		f.Low, f.High = pooled("min", figures).Low, pooled("max", figures).High
	}
	return f
}

// shared is the verdict over cells that are judged one by one: all of them have to hold, or a share.
func (s Statement) shared(p Part) Verdict {
	n := len(p.Cells) + p.Missing
	held, failed := p.Count(Holds), p.Count(DoesNotHold)
	needed := n
	if s.Take == TakeShare {
		for needed = 0; float64(needed) < s.Share*float64(n)*(1-slack); {
			needed++
		}
	}
	switch {
	case held >= needed:
		return Holds
	case n-failed < needed:
		return DoesNotHold
	}
	return CannotBeTold
}

func (s Statement) undecided(p Part) (Reason, string) {
	if p.Count(CannotBeTold) == 0 && p.Missing > 0 {
		return NoneUsable, fmt.Sprintf("%d of %d points have no repetition that ended ok", p.Missing, p.Missing+len(p.Cells))
	}
	if p.Figure.N == 0 {
		return NoFigure, "there is no ratio to zero"
	}
	what, single := "the repetitions lie on both sides", p.Count(CannotBeTold) == 0 && p.Figure.N == 1
	for _, c := range p.Cells {
		single = single || c.Verdict == CannotBeTold && c.Figure.N == 1
	}
	if single {
		what = "what is known of the figures allows for both"
	}
	if len(p.Cells) > 1 && p.Count(CannotBeTold) > 0 {
		what = fmt.Sprintf("in %d of %d places %s", p.Count(CannotBeTold), len(p.Cells), what)
	}
	return WithinSpread, what
}

// none is the answer where samples were selected and none has a figure.
func none(all []sample, m results.Metric) Part {
	usable := 0
	statuses := map[string]bool{}
	for _, s := range all {
		if len(s.records) > 0 {
			usable++
			continue
		}
		statuses[s.status] = true
	}
	if usable == 0 {
		return open(NoneUsable, "no repetition ended ok (%s)", strings.Join(results.Shorten(slices.Sorted(maps.Keys(statuses))), "; "))
	}
	return open(NoFigure, "no figure of %s", m.Name)
}

// anyClosed tells whether a figure of m is the latency of a closed loop.
func anyClosed(all []sample, m results.Metric) bool {
	return slices.ContainsFunc(all, func(s sample) bool { return s.closed(m) })
}
