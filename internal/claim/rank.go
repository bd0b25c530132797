package claim

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// contender is one of those that are ranked in a cell, such as a broker. Example: kafka had 9 messages/s, nats 5, every
// run of pulsar failed, and mosquitto refused the work. Then kafka is ahead of nats, pulsar may have any place, and
// mosquitto has none.
type contender struct {
	name    string
	figure  Figure // none if nothing usable was measured
	refused bool   // the work, so that there is neither a figure nor a place
}

// rank judges in each cell the place of one contender, or the order of several. In the example of contender it is
// undecided whether kafka is first, because pulsar may be, and nats is not first. A cell in which those that the ranking
// names were not all measured has nothing to compare.
func (s Statement) rank(chosen []sample) (Part, *undecided) {
	var p Part
	named := s.Ranking.named()
	for _, cell := range grouped(chosen, s.cellAxes(chosen, append(s.comparedAxes(), s.Ranking.By, sweepAxis)...)) {
		contenders, why := s.contendersIn(cell)
		if why != nil {
			return Part{}, why
		}
		ranked := lists.Filter(contenders, func(c contender) bool { return c.figure.known() })
		switch {
		case len(ranked) > 1 && haveAll(ranked, named):
			p.Cells = append(p.Cells, s.rankCell(cell.Name, contenders))
			p.uses(s.Metric, cell.Members)
		case len(contenders) > 1 && haveAll(contenders, named):
			p.addMissing(cell.Members)
		}
	}
	switch {
	case len(p.Cells) > 0:
		return p, nil
	case p.Missing == 0:
		return Part{}, undecidedBecause(TooFew, "those that it compares were not measured at the same place")
	}
	if unusable := lists.Filter(chosen, func(one sample) bool { return len(one.records) == 0 }); len(unusable) > 0 {
		return Part{}, noFigure(unusable, s.Metric)
	}
	return Part{}, noFigure(chosen, s.Metric)
}

func (s Statement) contendersIn(cell group) ([]contender, *undecided) {
	groups, why := splitBy(s.Ranking.By, cell)
	if why != nil {
		return nil, why
	}
	var contenders []contender
	for _, g := range groups {
		f, why := s.pooledFigure(s.Metric, g, fmt.Sprintf("of %s at %q", g.Name, cell.Name))
		if why != nil {
			return nil, why
		}
		isOther := func(one sample) bool { return one.status != string(store.Refused) }
		refused := !f.known() && !slices.ContainsFunc(g.Members, isOther)
		contenders = append(contenders, contender{name: g.Name, figure: f, refused: refused})
	}
	return contenders, nil
}

// haveAll reports whether all of the named ones are among the contenders.
func haveAll(contenders []contender, named []string) bool {
	isMissing := func(name string) bool { _, ok := find(contenders, name); return !ok }
	return !slices.ContainsFunc(named, isMissing)
}

func find(contenders []contender, name string) (c contender, ok bool) {
	i := slices.IndexFunc(contenders, func(c contender) bool { return results.SameValue(c.name, name) })
	if i < 0 {
		return contender{}, false
	}
	return contenders[i], true
}

func (r Ranking) named() []string {
	if r.Order != nil {
		return r.Order
	}
	return []string{r.Who}
}

// rankCell judges a cell in which all that the ranking names have a figure, and another contender has one.
func (s Statement) rankCell(cellName string, contenders []contender) Cell {
	named := s.Ranking.named()
	first, _ := find(contenders, named[0])
	var rivals []Figure
	var unknown []string // rivals without a figure, which may have any place
	for _, c := range contenders {
		switch {
		case results.SameValue(c.name, first.name):
		case c.figure.known():
			rivals = append(rivals, c.figure)
		case !c.refused:
			unknown = append(unknown, c.name)
		}
	}
	cell := Cell{Name: cellName, Figure: s.lead(first.figure, rivals), N: fewestRepetitions(append(rivals, first.figure))}
	if s.Order != nil {
		cell.Verdict = s.judgeOrder(contenders)
		return cell
	}
	cell.Verdict = s.judgePlace(first.figure, rivals, len(unknown))
	if cell.Verdict == Undecided && s.judgePlace(first.figure, rivals, 0) != Undecided {
		cell.Unknown = unknown
	}
	return cell
}

// judgeOrder reports whether each contender of the order is better than the next.
func (s Statement) judgeOrder(contenders []contender) Verdict {
	verdict := Reproduced
	for i := range len(s.Order) - 1 {
		better, _ := find(contenders, s.Order[i])
		worse, _ := find(contenders, s.Order[i+1])
		verdict = verdict.and(s.isBetter(better.figure, worse.figure))
	}
	return verdict
}

// judgePlace reports whether own is at the place, which is so if place − 1 rivals are better. How many are is known only
// within limits, as spreads overlap and some figures are unknown. Example: of three rivals one is certainly better than
// own, one certainly worse, and one has no figure. Then one or two are better: own isn't first, and whether it is second
// is undecided.
func (s Statement) judgePlace(own Figure, rivals []Figure, unknown int) Verdict {
	fewestBetter, mostBetter := 0, unknown
	for _, rival := range rivals {
		switch s.isBetter(rival, own) {
		case Reproduced:
			fewestBetter++
			mostBetter++
		case Undecided:
			mostBetter++
		}
	}
	wantBetter := s.Place - 1
	if s.Place == LastPlace {
		wantBetter = len(rivals) + unknown
	}
	switch {
	case wantBetter < fewestBetter || wantBetter > mostBetter:
		return NotReproduced
	case fewestBetter == mostBetter:
		return Reproduced
	}
	return Undecided
}

// isBetter reports whether a is better than b for any pair of their repetitions.
func (s Statement) isBetter(a, b Figure) Verdict {
	if s.lowestIsBest(s.Metric) {
		a, b = b, a
	}
	switch {
	case a.Low > b.High:
		return Reproduced
	case a.High < b.Low:
		return NotReproduced
	}
	return Undecided
}

// lead returns how many times as good as the best rival own is, and for the last place, how many times as good as the
// worst rival: above 1 it is better. With an own rate of 9 and rivals of 5 and 3 it is 9/5 = 1.8; with a latency of 2 ms
// and rivals of 3 and 8 ms it is 3/2 = 1.5. There is none if the divisor may be zero.
func (s Statement) lead(own Figure, rivals []Figure) Figure {
	best, worst := poolMax, poolMin
	lowestIsBest := s.lowestIsBest(s.Metric)
	if lowestIsBest {
		best, worst = worst, best
	}
	rival := pooled(best, rivals)
	if s.Place == LastPlace {
		rival = pooled(worst, rivals)
	}
	if lowestIsBest {
		return quotient(rival, own)
	}
	return quotient(own, rival)
}
