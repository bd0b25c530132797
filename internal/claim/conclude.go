package claim

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
)

// conclude makes a part's figure and verdict from its cells. A missing cell may turn out either way, so a verdict
// stands only if it would be the same whatever the missing ones had.
func (s Statement) conclude(p Part) Part {
	figures := lists.Map(p.Cells, func(c Cell) Figure { return c.Figure })
	if s.poolsCells() {
		return s.concludeFromPooled(p, figures)
	}
	p.Figure, p.R2 = rangeOf(figures), rangeOf(lists.Map(p.Cells, func(c Cell) Figure { return c.R2 }))
	return s.concludeFromEach(p)
}

// concludeFromPooled judges one figure made of those of all cells. A missing figure may be anything from zero: if the
// mean is judged, and a third one is missing beside 3 and 5, their mean is 8/3 at least.
func (s Statement) concludeFromPooled(p Part, figures []Figure) Part {
	p.Figure = pooled(s.Take, figures)
	p.PointsTo = s.Expect.judge(p.Figure)
	if p.PointsTo == Undecided {
		return p.leftOpen(undecidedBecause(WithinSpread, "%s", whyWithinSpread(p.Figure.N == 1)))
	}
	anything := Figure{Low: 0, High: math.Inf(1), N: 1}
	withMissing := pooled(s.Take, slices.Concat(figures, slices.Repeat([]Figure{anything}, p.Missing)))
	if s.Expect.judge(withMissing) == Undecided {
		return p.leftOpen(p.whyMissing())
	}
	return p
}

// concludeFromEach demands that each cell holds, or a share of them. Example: 50 % of four cells have to hold, one
// holds, one doesn't, and two are missing. Then one to three of them hold, two are needed, and it is undecided.
func (s Statement) concludeFromEach(p Part) Part {
	needed := s.needed(p)
	fewest, most := p.Count(Reproduced), p.places()-p.Count(NotReproduced) // cells that hold
	switch {
	case fewest >= needed:
		p.PointsTo = Reproduced
	case most < needed:
		p.PointsTo = NotReproduced
	case p.Count(Undecided) == 0:
		return p.leftOpen(p.whyMissing())
	default:
		return p.leftOpen(p.whyCellsOpen())
	}
	return p
}

// needed returns how many cells have to hold.
func (s Statement) needed(p Part) int {
	if s.Take != TakeShare {
		return p.places()
	}
	exact := s.Share * float64(p.places())
	return int(math.Ceil(exact * (1 - slack))) // 0.3 · 10 is a little more than 3, and makes 3
}

// oneAlone returns of how many cells one alone may make the verdict: any refutes a statement of which no more than needed hold, and any of
// those that it doesn't need, and one more, reproduces it. Figures that are pooled have such ends already.
func (s Statement) oneAlone(p Part, v Verdict) int {
	switch {
	case s.poolsCells():
		return 1
	case v == NotReproduced:
		return len(p.Cells)
	}
	return min(len(p.Cells), p.places()-s.needed(p)+1)
}

// leftOpen returns the part as undecided, with the reason.
func (p Part) leftOpen(why *undecided) Part {
	p.PointsTo, p.Reason, p.Why = Undecided, why.reason, why.text
	return p
}

// places returns the number of cells, including missing ones.
func (p Part) places() int { return len(p.Cells) + p.Missing }

// whyMissing returns why a part is undecided if only missing cells leave it open.
func (p Part) whyMissing() *undecided {
	if p.unmeasured > 0 {
		return undecidedBecause(FewPlaces, "%d of the %d places that the publication speaks of were measured", p.places()-p.unmeasured, p.places())
	}
	if p.missingThoughOK > 0 {
		return undecidedBecause(NoFigure, "%d of %d places have no figure", p.Missing, p.places())
	}
	return undecidedBecause(NoneUsable, "%d of %d points have no repetition that ended ok", p.Missing, p.places())
}

// whyCellsOpen returns why a part is undecided if some of its cells are.
func (p Part) whyCellsOpen() *undecided {
	var unknown []string // contenders
	noRatio, withinSpread, anySingle := 0, 0, false
	for _, c := range p.Cells {
		unknown = append(unknown, c.Unknown...)
		switch {
		case c.Verdict != Undecided:
		case c.noRatio:
			noRatio++
		default:
			withinSpread++
			anySingle = anySingle || c.N == 1
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		names := strings.Join(slices.Compact(unknown), ", ")
		return undecidedBecause(NoneUsable, "without a figure of %s the place is open", names)
	}
	if withinSpread == 0 {
		return undecidedBecause(NoFigure, "%sthere is no ratio to zero", p.inPlaces(noRatio))
	}
	return undecidedBecause(WithinSpread, "%s%s", p.inPlaces(withinSpread), whyWithinSpread(anySingle))
}

// whyWithinSpread returns why the spread of figures doesn't decide. A single repetition has no spread of its own, but a
// rate that was searched for has one.
func whyWithinSpread(single bool) string {
	if single {
		return "what is known of the figures allows for both"
	}
	return "the repetitions lie on both sides"
}

// inPlaces begins a sentence with the number of places of which it is true: "in 2 of 3 places ". It is empty if there
// is only one place.
func (p Part) inPlaces(n int) string {
	if p.places() == 1 {
		return ""
	}
	return fmt.Sprintf("in %d of %d places ", n, p.places())
}
