package claim

import (
	"fmt"
	"maps"
	"slices"
)

// contender is a value of the axis that is ranked. It has no figure if none of its samples has one.
type contender struct {
	name   string
	figure Figure
}

// rank judges the place of contenders in each cell.
func (s Statement) rank(all []sample) (Part, error) {
	chosen, err := s.choose(all)
	if err != nil {
		return Part{}, err
	}
	p := Part{Closed: anyClosed(chosen, s.Metric)}
	for _, g := range grouped(chosen, s.cellAxes(chosen, s.By, sweepAxis)) {
		contenders, err := s.contenders(g)
		if err != nil {
			return Part{}, err
		}
		if !s.canRank(contenders) {
			continue // not all that the statement names were to be measured here
		}
		known := slices.DeleteFunc(contenders, func(c contender) bool { return c.figure.N == 0 })
		if !s.canRank(known) {
			p.Missing++
			continue
		}
		p.Cells = append(p.Cells, Cell{Name: g.name, Verdict: s.judgeRank(known), Figure: s.lead(known), N: fewestRepetitions(known)})
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

// contenders are those of a cell, by name.
func (s Statement) contenders(g group) ([]contender, error) {
	byName := map[string][]sample{}
	for _, one := range g.samples {
		name, ok := one.value(s.By)
		if !ok {
			return nil, undecidedBecause(Misfit, "no point has an axis or a setting %q", s.By)
		}
		byName[name] = append(byName[name], one)
	}
	var contenders []contender
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		points := group{name: g.name, samples: byName[name]}
		f, err := s.figure(points, s.Metric)
		if err != nil {
			return nil, ambiguous(points, fmt.Sprintf("of %s at %q", name, g.name))
		}
		contenders = append(contenders, contender{name: name, figure: f})
	}
	return contenders, nil
}

// canRank reports whether there are several contenders, those that the statement names among them.
func (s Statement) canRank(contenders []contender) bool {
	for _, name := range s.named() {
		if !slices.ContainsFunc(contenders, func(c contender) bool { return sameValue(c.name, name) }) {
			return false
		}
	}
	return len(contenders) > 1
}

// named are the contenders that the statement names.
func (s Statement) named() []string {
	if s.Place == 0 {
		return s.Order
	}
	return []string{s.Who}
}

// judgeRank judges the order of contenders, or the place of one.
func (s Statement) judgeRank(contenders []contender) Verdict {
	if s.Place != 0 {
		return s.judgePlace(contenders)
	}
	v := Holds
	for i := range s.Order[1:] {
		v = v.and(s.isBetter(figureOf(contenders, s.Order[i]), figureOf(contenders, s.Order[i+1])))
	}
	return v
}

// judgePlace counts the contenders that certainly are better, and those that possibly are. The place is certain if both counts agree.
func (s Statement) judgePlace(contenders []contender) Verdict {
	who := figureOf(contenders, s.Who)
	certainly, possibly := 0, 0
	for _, c := range contenders {
		if sameValue(c.name, s.Who) {
			continue
		}
		switch s.isBetter(c.figure, who) {
		case Holds:
			certainly++
			possibly++
		case CannotBeTold:
			possibly++
		}
	}
	better := s.Place - 1 // how many have to be better
	if s.Place < 0 {
		better = len(contenders) + s.Place
	}
	switch {
	case certainly == better && possibly == better:
		return Holds
	case certainly > better || possibly < better:
		return DoesNotHold
	}
	return CannotBeTold
}

// isBetter tells whether a is better than b for any pair of their repetitions.
func (s Statement) isBetter(a, b Figure) Verdict {
	if s.lowestIsBest(s.Metric) {
		a, b = b, a
	}
	switch {
	case a.Low > b.High:
		return Holds
	case a.High < b.Low:
		return DoesNotHold
	}
	return CannotBeTold
}

// lead is how many times better the first contender named is than the best other; for the last place, how many times worse than the worst
// other. It is none if the divisor may be zero.
func (s Statement) lead(contenders []contender) Figure {
	name := s.named()[0]
	var others []Figure
	for _, c := range contenders {
		if !sameValue(c.name, name) {
			others = append(others, c.figure)
		}
	}
	lowest, last := s.lowestIsBest(s.Metric), s.Place == -1
	pooling := poolMax
	if lowest != last {
		pooling = poolMin
	}
	a, b := figureOf(contenders, name), pooled(pooling, others)
	if lowest {
		a, b = b, a
	}
	return quotient(a, b)
}

// figureOf is the figure of the contender with a name that canRank found.
func figureOf(contenders []contender, name string) Figure {
	return contenders[slices.IndexFunc(contenders, func(c contender) bool { return sameValue(c.name, name) })].figure
}

func fewestRepetitions(contenders []contender) int {
	fewest := contenders[0].figure.N
	for _, c := range contenders {
		fewest = min(fewest, c.figure.N)
	}
	return fewest
}
