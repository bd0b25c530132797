package claim

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// contest is the contenders of one cell: the values of the axis that is ranked, such as brokers.
type contest struct {
	names      []string    // of all contenders
	ranked     []contender // those with a figure
	unknown    []string    // those of which nothing usable was measured: they may have any place
	lowestWins bool
}

type contender struct {
	name   string
	figure Figure
}

// rank judges in each cell the place of one contender, or the order of several. Example: if kafka had 9 messages/s, nats 5, and every run of
// pulsar was void, it can't be told whether kafka is first, and nats is not.
func (s Statement) rank(chosen []sample) (Part, error) {
	var p Part
	for _, g := range grouped(chosen, s.cellAxes(chosen, s.Ranking.By, sweepAxis)) {
		c, err := s.contestIn(g)
		if err != nil {
			return Part{}, err
		}
		named := s.Ranking.named()
		switch {
		case len(c.names) < 2 || !containsAll(c.names, named): // not all that the statement names were to be measured here
		case len(c.ranked) < 2 || !containsAll(c.rankedNames(), named):
			p.addMissing(g.Members)
		default:
			p.Cells = append(p.Cells, s.Ranking.cell(g.Name, c))
		}
	}
	switch {
	case len(p.Cells) > 0:
		return p, nil
	case p.Missing == 0:
		return Part{}, undecidedBecause(TooFew, "those that it compares were not measured at the same place")
	}
	if unusable := slices.DeleteFunc(slices.Clone(chosen), func(one sample) bool { return len(one.records) > 0 }); len(unusable) > 0 {
		return Part{}, noFigure(unusable, s.Metric)
	}
	return Part{}, noFigure(chosen, s.Metric)
}

// contestIn gathers the contenders of a cell. One that refused has no figure and no place.
func (s Statement) contestIn(cell group) (contest, error) {
	c := contest{lowestWins: s.lowestIsBest(s.Metric)}
	points, err := splitBy(s.Ranking.By, cell)
	if err != nil {
		return contest{}, err
	}
	for _, g := range points {
		f, err := s.figure(s.Metric, g, fmt.Sprintf("of %s at %q", g.Name, cell.Name))
		if err != nil {
			return contest{}, err
		}
		c.names = append(c.names, g.Name)
		notRefused := func(one sample) bool { return one.status != string(store.Refused) }
		switch {
		case f.N > 0:
			c.ranked = append(c.ranked, contender{name: g.Name, figure: f})
		case slices.ContainsFunc(g.Members, notRefused):
			c.unknown = append(c.unknown, g.Name)
		}
	}
	return c, nil
}

func (c contest) rankedNames() []string {
	var names []string
	for _, o := range c.ranked {
		names = append(names, o.name)
	}
	return names
}

// containsAll reports whether every wanted value is among those of an axis.
func containsAll(values, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(want string) bool {
		return !slices.ContainsFunc(values, func(v string) bool { return results.SameValue(v, want) })
	})
}

// figureOf is the figure of a ranked contender, and the figures of the others.
func (c contest) figureOf(name string) (own Figure, others []Figure) {
	for _, o := range c.ranked {
		if results.SameValue(o.name, name) {
			own = o.figure
		} else {
			others = append(others, o.figure)
		}
	}
	return own, others
}

// named are the contenders that the ranking names.
func (r Ranking) named() []string {
	if r.Place == 0 {
		return r.Order
	}
	return []string{r.Who}
}

// cell judges a contest in which all that the ranking names are ranked.
func (r Ranking) cell(name string, c contest) Cell {
	own, others := c.figureOf(r.named()[0])
	cell := Cell{Name: name, Verdict: r.judge(c), Figure: r.lead(c, own, others), N: fewestRepetitions(append(others, own))}
	allKnown := c
	allKnown.unknown = nil
	if cell.Verdict == CannotBeTold && r.judge(allKnown) != CannotBeTold {
		cell.Unknown = c.unknown
	}
	return cell
}

// judge judges the order of contenders, or the place of one. The place is certain if as many contenders certainly are better as possibly are.
func (r Ranking) judge(c contest) Verdict {
	if r.Place == 0 {
		v := Holds
		for i, name := range r.Order[1:] {
			before, _ := c.figureOf(r.Order[i])
			after, _ := c.figureOf(name)
			v = v.and(c.isBetter(before, after))
		}
		return v
	}
	own, others := c.figureOf(r.Who)
	certainly, possibly := 0, len(c.unknown)
	for _, other := range others {
		switch c.isBetter(other, own) {
		case Holds:
			certainly++
			possibly++
		case CannotBeTold:
			possibly++
		}
	}
	better := r.Place - 1 // how many have to be better
	if r.Place == LastPlace {
		better = len(others) + len(c.unknown)
	}
	switch {
	case certainly == better && possibly == better:
		return Holds
	case certainly > better || possibly < better:
		return DoesNotHold
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
	case a.Low > b.High:
		return Holds
	case a.High < b.Low:
		return DoesNotHold
	default:
		return CannotBeTold
	}
}

// lead is how many times better the first contender named is than the best other; for the last place, how many times worse than the worst
// other. It is none if the divisor may be zero.
func (r Ranking) lead(c contest, own Figure, others []Figure) Figure {
	pooling := poolMax
	if c.lowestWins != (r.Place == LastPlace) {
		pooling = poolMin
	}
	a, b := own, pooled(pooling, others)
	if c.lowestWins {
		a, b = b, a
	}
	return quotient(a, b)
}
