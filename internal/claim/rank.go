package claim

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// contest is the contenders of one cell: the values of the axis that is ranked, such as brokers. Example: kafka had 9
// messages/s, nats 5, every run of pulsar failed, and mosquitto refused the work. Then kafka is ahead of nats, pulsar
// may have any place, and mosquitto has none.
type contest struct {
	contenders []contender
	lowestWins bool
}

type contender struct {
	name    string
	figure  Figure // none if nothing usable was measured
	refused bool   // the work, so that there is neither a figure nor a place
}

// rank judges in each cell the place of one contender, or the order of several. In the example of contest it can't be
// told whether kafka is first, because pulsar may be, and nats is not first.
func (s Statement) rank(chosen []sample) (Part, *undecided) {
	var p Part
	for _, g := range grouped(chosen, s.cellAxes(chosen, s.Ranking.By, sweepAxis)) {
		c, why := s.contestIn(g)
		if why != nil {
			return Part{}, why
		}
		named := s.Ranking.named()
		switch {
		case c.ranked().includes(named):
			p.Cells = append(p.Cells, s.Ranking.cell(g.Name, c))
		case c.includes(named):
			p.addMissing(g.Members)
		}
	}
	if len(p.Cells) > 0 {
		return p, nil
	}
	if p.Missing == 0 {
		return Part{}, undecidedBecause(TooFew, "those that it compares were not measured at the same place")
	}
	hasRecords := func(one sample) bool { return len(one.records) > 0 }
	if unusable := slices.DeleteFunc(slices.Clone(chosen), hasRecords); len(unusable) > 0 {
		return Part{}, noFigure(unusable, s.Metric)
	}
	return Part{}, noFigure(chosen, s.Metric)
}

// contestIn gathers the contenders of a cell.
func (s Statement) contestIn(cell group) (contest, *undecided) {
	c := contest{lowestWins: s.lowestIsBest(s.Metric)}
	groups, why := splitBy(s.Ranking.By, cell)
	if why != nil {
		return contest{}, why
	}
	for _, g := range groups {
		f, why := s.figure(s.Metric, g, fmt.Sprintf("of %s at %q", g.Name, cell.Name))
		if why != nil {
			return contest{}, why
		}
		notRefused := func(one sample) bool { return one.status != string(store.Refused) }
		refused := !f.known() && !slices.ContainsFunc(g.Members, notRefused)
		c.contenders = append(c.contenders, contender{name: g.Name, figure: f, refused: refused})
	}
	return c, nil
}

// ranked is the contest of those that have a figure.
func (c contest) ranked() contest {
	hasNone := func(o contender) bool { return !o.figure.known() }
	c.contenders = slices.DeleteFunc(slices.Clone(c.contenders), hasNone)
	return c
}

// unknown names those that have no figure, and still a place.
func (c contest) unknown() []string {
	var names []string
	for _, o := range c.contenders {
		if !o.figure.known() && !o.refused {
			names = append(names, o.name)
		}
	}
	return names
}

// includes reports whether there are several contenders, and all of the named ones among them.
func (c contest) includes(named []string) bool {
	for _, name := range named {
		if !slices.ContainsFunc(c.contenders, func(o contender) bool { return results.SameValue(o.name, name) }) {
			return false
		}
	}
	return len(c.contenders) > 1
}

// figureOf is the figure of a contender. It is none if nothing usable was measured.
func (c contest) figureOf(name string) Figure {
	for _, o := range c.contenders {
		if results.SameValue(o.name, name) {
			return o.figure
		}
	}
	return Figure{}
}

// othersThan are the figures of all others that didn't refuse.
func (c contest) othersThan(name string) []Figure {
	var others []Figure
	for _, o := range c.contenders {
		if !o.refused && !results.SameValue(o.name, name) {
			others = append(others, o.figure)
		}
	}
	return others
}

// named are the contenders that the ranking names.
func (r Ranking) named() []string {
	if r.Place == 0 {
		return r.Order
	}
	return []string{r.Who}
}

// cell judges a contest in which all that the ranking names have a figure.
func (r Ranking) cell(name string, c contest) Cell {
	ranked := c.ranked()
	first := r.named()[0]
	own, others := ranked.figureOf(first), ranked.othersThan(first)
	cell := Cell{Name: name, Verdict: r.judge(c), Figure: r.lead(c, own, others), N: fewestRepetitions(append(others, own))}
	if cell.Verdict == CannotBeTold && r.judge(ranked) != CannotBeTold {
		cell.Unknown = c.unknown()
	}
	return cell
}

func (r Ranking) judge(c contest) Verdict {
	if r.Place == 0 {
		return r.judgeOrder(c)
	}
	return r.judgePlace(c)
}

// judgeOrder tells whether each contender of the order is better than the next.
func (r Ranking) judgeOrder(c contest) Verdict {
	verdict := Holds
	for i := range len(r.Order) - 1 {
		verdict = verdict.and(c.isBetter(c.figureOf(r.Order[i]), c.figureOf(r.Order[i+1])))
	}
	return verdict
}

// judgePlace tells whether Who is at Place, which is so if Place − 1 contenders are better. How many are is known only
// within limits, as spreads overlap and some figures are unknown. Example: of three others one is certainly better than
// Who, one certainly worse, and one has no figure. Then one or two are better: Who isn't first, and it can't be told
// whether Who is second.
func (r Ranking) judgePlace(c contest) Verdict {
	own, others := c.figureOf(r.Who), c.othersThan(r.Who)
	fewestBetter, mostBetter := 0, 0
	for _, other := range others {
		switch c.isBetter(other, own) {
		case Holds:
			fewestBetter++
			mostBetter++
		case CannotBeTold:
			mostBetter++
		}
	}
	wantBetter := r.Place - 1
	if r.Place == LastPlace {
		wantBetter = len(others)
	}
	switch {
	case wantBetter < fewestBetter || wantBetter > mostBetter:
		return DoesNotHold
	case fewestBetter == mostBetter:
		return Holds
	default:
		return CannotBeTold
	}
}

// isBetter tells whether a is better than b for any pair of their repetitions.
func (c contest) isBetter(a, b Figure) Verdict {
	if c.lowestWins {
		a, b = b, a
	}
	switch {
	case !a.known() || !b.known():
		return CannotBeTold
	case a.Low > b.High:
		return Holds
	case a.High < b.Low:
		return DoesNotHold
	default:
		return CannotBeTold
	}
}

// lead is how many times as good as the best other the first contender named is, and for the last place, how many times
// as good as the worst other: above 1 it is better. With own rates of 9 and others of 5 and 3 it is 9/5 = 1.8; with
// latencies of 2 ms and others of 3 and 8 ms it is 3/2 = 1.5. It is none if the divisor may be zero.
func (r Ranking) lead(c contest, own Figure, others []Figure) Figure {
	best, worst := poolMax, poolMin
	if c.lowestWins {
		best, worst = worst, best
	}
	rival := pooled(best, others)
	if r.Place == LastPlace {
		rival = pooled(worst, others)
	}
	if c.lowestWins {
		return quotient(rival, own)
	}
	return quotient(own, rival)
}
