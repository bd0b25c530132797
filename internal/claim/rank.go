package claim

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// contest is the contenders of one cell: the values of the axis that is ranked, such as brokers. Example: kafka had 9
// messages/s, nats 5, every run of pulsar failed, and mosquitto refused the work. Then kafka and nats are ranked and
// pulsar is unknown. Mosquitto has no place, so that it is only in names.
type contest struct {
	names      []string    // of all contenders
	ranked     []contender // those with a figure
	unknown    []string    // those of which nothing usable was measured: each may have any place
	lowestWins bool
}

type contender struct {
	name   string
	figure Figure
}

// rank judges in each cell the place of one contender, or the order of several. In the example of contest it can't be
// told whether kafka is first, because pulsar may be, and nats is not first.
func (s Statement) rank(chosen []sample) (Part, error) {
	var p Part
	named := s.Ranking.named()
	for _, g := range grouped(chosen, s.cellAxes(chosen, s.Ranking.By, sweepAxis)) {
		c, err := s.contestIn(g)
		if err != nil {
			return Part{}, err
		}
		wasPlanned := len(c.names) >= 2 && containsAll(c.names, named)
		canJudge := len(c.ranked) >= 2 && containsAll(c.rankedNames(), named)
		switch {
		case canJudge:
			p.Cells = append(p.Cells, s.Ranking.cell(g.Name, c))
		case wasPlanned:
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
func (s Statement) contestIn(cell group) (contest, error) {
	c := contest{lowestWins: s.lowestIsBest(s.Metric)}
	contenders, err := splitBy(s.Ranking.By, cell)
	if err != nil {
		return contest{}, err
	}
	for _, g := range contenders {
		f, err := s.figure(s.Metric, g, fmt.Sprintf("of %s at %q", g.Name, cell.Name))
		if err != nil {
			return contest{}, err
		}
		c.names = append(c.names, g.Name)
		notRefused := func(one sample) bool { return one.status != string(store.Refused) }
		switch {
		case f.known():
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
	for _, want := range wanted {
		if !slices.ContainsFunc(values, func(v string) bool { return results.SameValue(v, want) }) {
			return false
		}
	}
	return true
}

// figureOf is the figure of a ranked contender, and the figures of the other ranked ones.
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
	if cell.Verdict == CannotBeTold {
		withoutUnknown := c
		withoutUnknown.unknown = nil
		if r.judge(withoutUnknown) != CannotBeTold {
			cell.Unknown = c.unknown
		}
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
		figure, _ := c.figureOf(r.Order[i])
		next, _ := c.figureOf(r.Order[i+1])
		verdict = verdict.and(c.isBetter(figure, next))
	}
	return verdict
}

// judgePlace tells whether Who is at Place, which is so if Place − 1 contenders are better. How many are is known only
// within limits, as spreads overlap and some figures are unknown. Example: of three others one is certainly better than
// Who, one certainly worse, and one has no figure. Then one or two are better: Who isn't first, and it can't be told
// whether Who is second.
func (r Ranking) judgePlace(c contest) Verdict {
	own, others := c.figureOf(r.Who)
	fewestBetter, mostBetter := 0, len(c.unknown)
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
		wantBetter = len(others) + len(c.unknown)
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
