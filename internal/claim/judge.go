package claim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// evaluate answers a statement from the samples of one side of a study.
func (s Statement) evaluate(all []sample) Part {
	p, err := s.judgeCells(all)
	var undecided *undecidedError
	switch {
	case err == nil:
		return s.conclude(p)
	case errors.As(err, &undecided):
		return Part{Verdict: CannotBeTold, Reason: undecided.reason, Why: undecided.why}
	default:
		panic(fmt.Sprintf("claim: %v", err)) // no statement makes another error
	}
}

// judgeCells makes the cells of the statement's part: one at least, or an error.
func (s Statement) judgeCells(all []sample) (Part, error) {
	if s.Kind == Ratio {
		return s.ratio(all)
	}
	chosen, err := s.choose(all)
	if err != nil {
		return Part{}, err
	}
	var p Part
	switch s.Kind {
	case Rank:
		p, err = s.rank(chosen)
	case Threshold:
		p, err = s.threshold(chosen)
	case Slope, Shape:
		p, err = s.trend(chosen)
	default:
		panic(fmt.Sprintf("claim: a statement of the kind %q", s.Kind)) // Parse makes none
	}
	p.Closed = anyClosed(chosen, s.Metric)
	return p, err
}

// threshold judges the metric in each cell.
func (s Statement) threshold(chosen []sample) (Part, error) {
	var p Part
	for _, g := range grouped(chosen, s.cellAxes(chosen)) {
		f, err := s.cellFigure(s.Metric, g)
		if err != nil {
			return Part{}, err
		}
		p.add(g, f, s.Expect.judge(f))
	}
	if len(p.Cells) == 0 {
		return Part{}, noFigure(chosen, s.Metric)
	}
	return p, nil
}

// add adds the cell of a group that is judged by its figure. Without one the cell is missing.
func (p *Part) add(g group, f Figure, v Verdict) {
	if f.N == 0 {
		p.addMissing(g.Members)
		return
	}
	p.Cells = append(p.Cells, Cell{Name: g.Name, Verdict: v, Figure: f, N: f.N})
}

// addMissing counts a cell without a figure.
func (p *Part) addMissing(samples []sample) {
	p.Missing++
	if !slices.ContainsFunc(samples, func(s sample) bool { return len(s.records) == 0 }) {
		p.missingThoughOK++
	}
}

// conclude makes the part's figure and verdict from its cells.
func (s Statement) conclude(p Part) Part {
	var figures, fits []Figure
	for _, c := range p.Cells {
		figures, fits = append(figures, c.Figure), append(fits, c.R2)
	}
	if s.poolsCells() {
		p.Figure = pooled(s.Take, figures)
		p.Verdict = s.Expect.judge(p.Figure)
		if p.Missing > 0 && p.Verdict != CannotBeTold {
			p.Verdict = s.Expect.judge(pooledWithMissing(s.Take, figures, p.Missing))
		}
	} else {
		p.Figure, p.R2 = rangeOf(figures), rangeOf(fits)
		p.Verdict = s.overCells(p)
	}
	if p.Verdict == CannotBeTold {
		p.Reason, p.Why = s.whyOpen(p)
	}
	return p
}

// pooledWithMissing is the pooled figure if missing ones may be anything from zero: the mean of 3, 5 and a missing one is 8/3 at least.
func pooledWithMissing(pooling string, figures []Figure, missing int) Figure {
	anything := Figure{High: math.Inf(1), N: 1}
	return pooled(pooling, slices.Concat(figures, slices.Repeat([]Figure{anything}, missing)))
}

// overCells is the verdict on cells that are judged one by one: all of them have to hold, or a share. Missing cells may turn out
// either way. Example: if 50 % of four cells have to hold, one holds, one doesn't, and two are missing, it can't be told.
func (s Statement) overCells(p Part) Verdict {
	all := len(p.Cells) + p.Missing
	needed := all
	if s.Take == TakeShare {
		needed = int(math.Ceil(s.Share * float64(all) * (1 - slack)))
	}
	switch {
	case p.Count(Holds) >= needed:
		return Holds
	case all-p.Count(DoesNotHold) < needed:
		return DoesNotHold
	default:
		return CannotBeTold
	}
}

// whyOpen is why the cells of a part don't decide it.
func (s Statement) whyOpen(p Part) (Reason, string) {
	open, all, unknown := p.Count(CannotBeTold), len(p.Cells)+p.Missing, p.unknown()
	missingDecide := p.Missing > 0 && open == 0
	if s.poolsCells() {
		missingDecide = p.Missing > 0 && s.Expect.judge(p.Figure) != CannotBeTold
	}
	switch {
	case missingDecide && p.missingThoughOK > 0:
		return NoFigure, fmt.Sprintf("%d of %d places have no figure", p.Missing, all)
	case missingDecide:
		return NoneUsable, fmt.Sprintf("%d of %d points have no repetition that ended ok", p.Missing, all)
	case p.Figure.N == 0 && s.judgesFigure():
		return NoFigure, "there is no ratio to zero"
	case len(unknown) > 0:
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
