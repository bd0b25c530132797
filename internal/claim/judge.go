package claim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// evaluate answers a statement from the samples, which are the measurements on one side of a study. Example: each
// broker has to have at least 10 messages/s. The repetitions of kafka had 9 and 12, those of nats 20 and 21, and all of
// pulsar failed. The part has the cells broker=kafka, which can't be told, and broker=nats, which holds. One cell is
// missing, and the whole can't be told.
func (s Statement) evaluate(all []sample) Part {
	p, err := s.judgeCells(all)
	if err == nil {
		return s.conclude(p)
	}
	var undecided *undecidedError
	if !errors.As(err, &undecided) {
		panic(fmt.Sprintf("claim: %v", err)) // no statement makes another error
	}
	return Part{Verdict: CannotBeTold, Reason: undecided.reason, Why: undecided.why}
}

// judgeCells makes a part of the statement's cells, of which there is one at least, without the verdict on all of them.
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

// add adds a cell that is judged by its figure. Without one the cell is missing.
func (p *Part) add(g group, f Figure, v Verdict) {
	if !f.known() {
		p.addMissing(g.Members)
		return
	}
	p.Cells = append(p.Cells, Cell{Name: g.Name, Verdict: v, Figure: f, N: f.N})
}

// addMissing counts a cell without a figure.
func (p *Part) addMissing(samples []sample) {
	p.Missing++
	hasNone := func(s sample) bool { return len(s.records) == 0 }
	if !slices.ContainsFunc(samples, hasNone) {
		p.missingThoughOK++
	}
}

// conclude makes the part's figure and verdict from its cells. A missing cell may turn out either way, so a verdict
// stands only if it would be the same whatever the missing ones had.
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

// pooledWithMissing is the pooled figure if missing ones may be anything from zero: the mean of 3, 5 and a missing one
// is 8/3 at least.
func pooledWithMissing(pooling string, figures []Figure, missing int) Figure {
	anything := Figure{High: math.Inf(1), N: 1}
	return pooled(pooling, slices.Concat(figures, slices.Repeat([]Figure{anything}, missing)))
}

// overCells is the verdict on cells that are judged one by one: all of them have to hold, or a share. Example: 50 % of
// four cells have to hold, one holds, one doesn't, and two are missing. Then one to three of them hold, two are needed,
// and it can't be told.
func (s Statement) overCells(p Part) Verdict {
	all := len(p.Cells) + p.Missing
	needed := all
	if s.Take == TakeShare {
		needed = int(math.Ceil(s.Share * float64(all) * (1 - slack))) // 0.3 · 10 is a little more than 3, and makes 3
	}
	fewest, most := p.Count(Holds), all-p.Count(DoesNotHold) // cells that hold
	switch {
	case fewest >= needed:
		return Holds
	case most < needed:
		return DoesNotHold
	default:
		return CannotBeTold
	}
}

// whyOpen is why a part can't be told.
func (s Statement) whyOpen(p Part) (Reason, string) {
	if s.isOpenForMissing(p) {
		all := len(p.Cells) + p.Missing
		if p.missingThoughOK > 0 {
			return NoFigure, fmt.Sprintf("%d of %d places have no figure", p.Missing, all)
		}
		return NoneUsable, fmt.Sprintf("%d of %d points have no repetition that ended ok", p.Missing, all)
	}
	if unknown := p.unknown(); len(unknown) > 0 {
		return NoneUsable, fmt.Sprintf("without a figure of %s the place is open", strings.Join(unknown, ", "))
	}
	if s.poolsCells() {
		return WithinSpread, whyWithinSpread(p.Figure.N == 1)
	}
	isTold := func(c Cell) bool { return c.Verdict != CannotBeTold }
	hasNoRatio := func(c Cell) bool { return s.judgesFigure() && !c.Figure.known() }
	all := slices.DeleteFunc(slices.Clone(p.Cells), isTold)
	open := slices.DeleteFunc(slices.Clone(all), hasNoRatio)
	if len(open) == 0 {
		return NoFigure, p.inPlaces(len(all), "there is no ratio to zero")
	}
	anySingle := slices.ContainsFunc(open, func(c Cell) bool { return c.N == 1 })
	return WithinSpread, p.inPlaces(len(open), whyWithinSpread(anySingle))
}

// isOpenForMissing reports whether a part can't be told only because cells are missing.
func (s Statement) isOpenForMissing(p Part) bool {
	if p.Missing == 0 {
		return false
	}
	if s.poolsCells() {
		return s.Expect.judge(p.Figure) != CannotBeTold
	}
	return p.Count(CannotBeTold) == 0
}

// whyWithinSpread is why the spread of figures doesn't decide. A single repetition has no spread of its own, but a rate
// that was searched for has one.
func whyWithinSpread(single bool) string {
	if single {
		return "what is known of the figures allows for both"
	}
	return "the repetitions lie on both sides"
}

// inPlaces adds to a sentence in how many of the part's places it is so, missing ones counted.
func (p Part) inPlaces(n int, why string) string {
	if all := len(p.Cells) + p.Missing; all > 1 {
		return fmt.Sprintf("in %d of %d places %s", n, all, why)
	}
	return why
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

// judgesFigure reports whether the verdict on a cell depends on its figure. The place of a contender and the sign of a
// slope don't.
func (s Statement) judgesFigure() bool {
	ignoresChange := s.Kind == Slope && !s.Change.Given()
	return s.Kind != Rank && !ignoresChange
}
