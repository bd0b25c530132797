package claim

import (
	"math"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// reading is the metric at one value of an axis. At 5 topics, with 90/s in repetition 1 and 110/s in repetition 2, x is
// 5, y is 100/s from 90 to 110/s, and repetitions are {1: 90, 2: 110}.
type reading struct {
	x           float64 // only for a slope
	y           Figure
	repetitions map[int]float64 // none if y is pooled of several points
}

// readings are a metric along an axis, in the order of the axis' values: publish_rate at 1, 5 and 50 topics.
type readings []reading

func (rs readings) figures() []Figure { return lists.Map(rs, func(r reading) Figure { return r.y }) }

// trend judges slopes and shapes: how the metric goes along an axis, in each cell, by the values of the axis that have a
// figure. If every run with 50 topics failed, it goes by 1, 5 and 100 topics, and the part is Without "topics=50".
func (s Statement) trend(chosen []sample) (Part, *undecided) {
	var p Part
	anyTooShort := false // a cell had figures, but too few
	for _, cell := range grouped(chosen, s.cellAxes(chosen, append(s.comparedAxes(), s.Along)...)) {
		rs, without, why := s.readingsIn(cell)
		if why != nil {
			return Part{}, why
		}
		switch {
		case len(rs) < s.leastValues():
			p.addMissing(cell.Members)
			anyTooShort = anyTooShort || len(rs) > 0
		case s.Kind == Shape:
			p.Cells = append(p.Cells, s.shapeCell(cell.Name, rs.figures()))
			p.uses(s.Metric, cell.Members)
			p.Without = lists.AddNew(p.Without, without...)
		default:
			p.Cells = append(p.Cells, s.slopeCell(cell.Name, rs))
			p.uses(s.Metric, cell.Members)
			p.Without = lists.AddNew(p.Without, without...)
		}
	}
	if len(p.Cells) > 0 {
		return p, nil
	}
	if anyTooShort {
		return Part{}, undecidedBecause(TooFew, "fewer than %d values of %s were measured", s.leastValues(), s.Along)
	}
	return Part{}, noFigure(chosen, s.Metric)
}

// leastValues returns how many values of the axis a statement needs. Two aren't enough for a slope, as they always lie
// on a line, or for an interior maximum, as both are ends.
func (s Statement) leastValues() int {
	if s.Kind == Slope || s.Form == interiorMaximum {
		return 3
	}
	return 2
}

// readingsIn returns the readings in a cell, and the values of the axis without one, at which the metric isn't known: "topics=50".
func (s Statement) readingsIn(cell group) (rs readings, without []string, why *undecided) {
	groups, why := splitBy(s.Along, cell)
	if why != nil {
		return nil, nil, why
	}
	for _, g := range groups {
		if s.Kind == Shape { // which any two of the figures may refute
			g.Members = lists.Map(g.Members, func(one sample) sample { return one.sharing(len(groups)) })
		}
		place := s.Along + "=" + g.Name
		y, why := s.pooledFigure(s.Metric, g, "at "+place)
		if why != nil {
			return nil, nil, why
		}
		if !y.known() {
			without = append(without, place)
			continue
		}
		r := reading{y: y}
		if s.Kind == Slope {
			x, isNumber := results.Magnitude(g.Name)
			if !isNumber {
				return nil, nil, undecidedBecause(Misfit, "%s is no number, so there is no line along it", place)
			}
			r.x = x
		}
		if len(g.Members) == 1 {
			r.repetitions = g.Members[0].repetitions(s.Metric)
		}
		rs = append(rs, r)
	}
	return rs, without, nil
}

// repetitions returns the metric of each repetition in which it is known, by the repetition's number.
func (s sample) repetitions(m results.Metric) map[int]float64 {
	if s.pair != nil {
		return s.pair.repetitions()
	}
	values := map[int]float64{}
	m = m.AsRecorded()
	for _, r := range s.records {
		if v := m.Of(r); !math.IsNaN(v) {
			values[r.Repetition] = v
		}
	}
	return values
}
