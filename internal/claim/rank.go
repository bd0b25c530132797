package claim

import (
	"fmt"
	"maps"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// contest is all contenders of one cell: the values of the axis that is ranked, such as brokers.
type contest struct {
	contenders []contender // by name
	lowestWins bool
}

type contender struct {
	name    string
	figure  Figure // none if nothing usable was measured
	refused bool   // it can't do what was asked, so it has no figure and no place
}

// rank judges in each cell the place of one contender, or the order of several. A contender without a figure may have any place. Example:
// with 9 messages/s of kafka, 5 of nats, and every run of pulsar void, it can't be told whether kafka is first, and nats is not.
func (s Statement) rank(all []sample) (Part, error) {
	chosen, err := s.choose(all)
	if err != nil {
		return Part{}, err
	}
	p := Part{Closed: anyClosed(chosen, s.Metric)}
	for _, g := range grouped(chosen, s.cellAxes(chosen, s.Ranking.By, sweepAxis)) {
		c, err := s.contest(g)
		if err != nil {
			return Part{}, err
		}
		measured := c.measured()
		switch {
		case !c.canRank(s.Ranking.named()): // not all that the statement names were to be measured here
		case !measured.canRank(s.Ranking.named()):
			p.Missing++
		default:
			cell := Cell{Name: g.Name, Verdict: s.Ranking.judge(c), Figure: s.Ranking.lead(measured), N: fewestRepetitions(measured.figures())}
			if cell.Verdict == CannotBeTold && s.Ranking.judge(measured) != CannotBeTold {
				cell.Unknown = c.unknown()
			}
			p.Cells = append(p.Cells, cell)
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

// contest gathers the contenders of a cell.
func (s Statement) contest(g group) (contest, error) {
	byName := map[string][]sample{}
	for _, one := range g.Members {
		name, ok := one.value(s.Ranking.By)
		if !ok {
			return contest{}, undecidedBecause(Misfit, "no point has an axis or a setting %q", s.Ranking.By)
		}
		byName[name] = append(byName[name], one)
	}
	c := contest{lowestWins: s.lowestIsBest(s.Metric)}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		points := group{Name: g.Name, Members: byName[name]}
		f, err := s.figure(points, s.Metric)
		if err != nil {
			return contest{}, ambiguous(points, fmt.Sprintf("of %s at %q", name, g.Name))
		}
		refused := !slices.ContainsFunc(points.Members, func(one sample) bool { return one.status != string(store.Refused) })
		c.contenders = append(c.contenders, contender{name: name, figure: f, refused: refused})
	}
	return c, nil
}

// measured leaves out the contenders without a figure.
func (c contest) measured() contest {
	c.contenders = slices.DeleteFunc(slices.Clone(c.contenders), func(o contender) bool { return o.figure.N == 0 })
	return c
}

func (c contest) figures() []Figure {
	var figures []Figure
	for _, o := range c.contenders {
		figures = append(figures, o.figure)
	}
	return figures
}

// unknown names the contenders without a figure that may have any place.
func (c contest) unknown() []string {
	var names []string
	for _, o := range c.contenders {
		if o.figure.N == 0 && !o.refused {
			names = append(names, o.name)
		}
	}
	return names
}

// canRank reports whether there are several contenders, those with the given names among them.
func (c contest) canRank(names []string) bool {
	for _, name := range names {
		if c.index(name) < 0 {
			return false
		}
	}
	return len(c.contenders) > 1
}

// index is where the contender with a name is in the list. It is -1 if there is none.
func (c contest) index(name string) int {
	return slices.IndexFunc(c.contenders, func(o contender) bool { return sameValue(o.name, name) })
}

// named are the contenders that the ranking names.
func (r Ranking) named() []string {
	if r.Place == 0 {
		return r.Order
	}
	return []string{r.Who}
}

// judge judges the order or the place among contenders that canRank found.
func (r Ranking) judge(c contest) Verdict {
	if r.Place != 0 {
		return c.judgePlace(c.index(r.Who), r.Place)
	}
	v := Holds
	for i, name := range r.Order[1:] {
		before, after := c.contenders[c.index(r.Order[i])], c.contenders[c.index(name)]
		v = v.and(c.isBetter(before.figure, after.figure))
	}
	return v
}

// judgePlace counts the others that certainly are better than a contender, and those that possibly are. The place is certain if both
// counts agree.
func (c contest) judgePlace(who, place int) Verdict {
	others, certainly, possibly := 0, 0, 0
	for i, o := range c.contenders {
		if i == who || o.refused {
			continue
		}
		others++
		switch c.isBetter(o.figure, c.contenders[who].figure) {
		case Holds:
			certainly++
			possibly++
		case CannotBeTold:
			possibly++
		}
	}
	better := place - 1 // how many have to be better
	if place == LastPlace {
		better = others
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
	case a.N == 0 || b.N == 0:
		return CannotBeTold
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
func (r Ranking) lead(c contest) Figure {
	who := c.index(r.named()[0])
	var others []Figure
	for i, o := range c.contenders {
		if i != who {
			others = append(others, o.figure)
		}
	}
	pooling := poolMax
	if c.lowestWins != (r.Place == LastPlace) {
		pooling = poolMin
	}
	a, b := c.contenders[who].figure, pooled(pooling, others)
	if c.lowestWins {
		a, b = b, a
	}
	return quotient(a, b)
}
