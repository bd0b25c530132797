package claim

import (
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// contender is one of those that a ranking is between.
type contender struct {
	name   string
	figure Figure
}

func (s Statement) rank(all []sample) Part {
	chosen, reason, why := selected(all, s.Experiments, s.At, s.Select)
	if reason != Decided {
		return open(reason, "%s", why)
	}
	own := []string{s.By}
	if s.By != sweepAxis {
		own = append(own, sweepAxis)
	}
	p := Part{Closed: anyClosed(chosen, s.Metric)}
	alone := 0
	for _, g := range s.cells(chosen, own...) {
		contenders, bad := s.contenders(g)
		if bad != nil {
			return *bad
		}
		if len(contenders) < 2 || !s.takesPart(contenders) {
			alone++ // nobody else was to be measured here
			continue
		}
		contenders = slices.DeleteFunc(contenders, func(c contender) bool { return c.figure.N == 0 })
		if len(contenders) < 2 || !s.takesPart(contenders) {
			p.Missing++
			continue
		}
		p.Cells = append(p.Cells, Cell{Name: g.name, Verdict: s.places(contenders), Figure: s.lead(contenders)})
	}
	switch {
	case len(p.Cells) > 0:
		return s.decided(p)
	case p.Missing == 0 && alone > 0:
		return open(TooFew, "those that it compares were not measured at the same place")
	}
	if bad := slices.DeleteFunc(slices.Clone(chosen), func(m sample) bool { return len(m.records) > 0 }); len(bad) > 0 {
		return none(bad, s.Metric)
	}
	return none(chosen, s.Metric)
}

// contenders are those of a cell; one that nothing is known of has no figure.
func (s Statement) contenders(g group) (out []contender, bad *Part) {
	by := map[string][]sample{}
	for _, m := range g.samples {
		v, ok := m.value(s.By)
		if !ok {
			p := open(Misfit, "no point has an axis or a setting %q", s.By)
			return nil, &p
		}
		by[v] = append(by[v], m)
	}
	for name, samples := range by {
		f, ok := s.figure(samples, s.Metric)
		if !ok {
			p := several(group{g.name, samples}, name)
			return nil, &p
		}
		out = append(out, contender{name, f})
	}
	return out, nil
}

// takesPart tells whether those whom the statement names are among the contenders.
func (s Statement) takesPart(contenders []contender) bool {
	for _, name := range append(slices.Clone(s.Order), s.Who) {
		if name != "" && !slices.ContainsFunc(contenders, func(c contender) bool { return same(c.name, name) }) {
			return false
		}
	}
	return true
}

// before tells whether a is better than b, whatever repetition of either is looked at.
func (s Statement) before(a, b Figure) Verdict {
	if s.lowestIsBest() {
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

func (s Statement) lowestIsBest() bool { return s.Lowest || s.Metric.Better == results.Lower }

// places holds the order of contenders against what is said of it.
func (s Statement) places(all []contender) Verdict {
	if s.Place == 0 {
		v := Holds
		for i := range s.Order[1:] {
			v = both(v, s.before(of(all, s.Order[i]), of(all, s.Order[i+1])))
		}
		return v
	}
	// Those certainly before and those that may be: the place is certain where both numbers are the same.
	who, certain, possible := of(all, s.Who), 0, 0
	for _, c := range all {
		if same(c.name, s.Who) {
			continue
		}
		switch s.before(c.figure, who) {
		case Holds:
			certain, possible = certain+1, possible+1
		case CannotBeTold:
			possible++
		}
	}
	want := s.Place - 1
	if s.Place < 0 {
		want = len(all) + s.Place
	}
	switch {
	case certain == want && possible == want:
		return Holds
	case certain > want || possible < want:
		return DoesNotHold
	}
	return CannotBeTold
}

func of(all []contender, name string) Figure {
	return all[slices.IndexFunc(all, func(c contender) bool { return same(c.name, name) })].figure
}

// lead is how many times better the one in question is than the best of the others; for the last place, how many
// times worse than the worst.
func (s Statement) lead(all []contender) Figure {
	name := s.Who
	if s.Place == 0 {
		name = s.Order[0]
	}
	var others []Figure
	for _, c := range all {
		if !same(c.name, name) {
			others = append(others, c.figure)
		}
	}
	how := "max"
	if s.lowestIsBest() != (s.Place == -1) {
		how = "min"
	}
	a, b := of(all, name), pooled(how, others)
	if s.lowestIsBest() {
		a, b = b, a
	}
	f := quotient(a, b)
	if f.N == 0 {
		return Figure{Value: 1, Low: 1, High: 1, N: min(a.N, b.N), Unit: unit.Factor}
	}
	return f
}
