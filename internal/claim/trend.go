package claim

import (
	"math"

	"github.com/brokermark/brokermark/internal/results"
)

// series is a metric along an axis, in the order of the axis' values: publish_rate at 1, 5 and 50 topics.
type series []reading

// reading is the metric at one value of the axis. At 5 topics, with 90/s in repetition 1 and 110/s in repetition 2, x is
// 5, y is 100/s from 90 to 110/s, and repetitions are {1: 90, 2: 110}.
type reading struct {
	x           float64 // only for a slope
	y           Figure
	repetitions map[int]float64 // none if y is pooled
}

func (line series) figures() []Figure {
	var figures []Figure
	for _, r := range line {
		figures = append(figures, r.y)
	}
	return figures
}

// trend judges slopes and shapes: how the metric goes along an axis, in each cell.
func (s Statement) trend(chosen []sample) (Part, *undecided) {
	var p Part
	tooShort := false // a cell had figures, but too few
	for _, cell := range grouped(chosen, s.cellAxes(chosen, s.Trend.Along)) {
		line, why := s.seriesIn(cell)
		if why != nil {
			return Part{}, why
		}
		switch {
		case len(line) < s.leastValues():
			p.addMissing(cell.Members)
			tooShort = tooShort || len(line) > 0
		case s.Kind == Shape:
			p.Cells = append(p.Cells, s.Trend.shapeCell(cell.Name, line))
		default:
			p.Cells = append(p.Cells, s.Trend.slopeCell(cell.Name, line))
		}
	}
	switch {
	case len(p.Cells) > 0:
		return p, nil
	case tooShort:
		return Part{}, undecidedBecause(TooFew, "fewer than %d values of %s were measured", s.leastValues(), s.Trend.Along)
	}
	return Part{}, noFigure(chosen, s.Metric)
}

// leastValues is how many values of the axis a statement needs. Two aren't enough for a slope, as they always lie on a
// line, or for an interior maximum, as both are ends.
func (s Statement) leastValues() int {
	if s.Kind == Slope || s.Trend.Form == interiorMaximum {
		return 3
	}
	return 2
}

// seriesIn is the metric of a cell along the axis, without the values at which it isn't known.
func (s Statement) seriesIn(cell group) (series, *undecided) {
	groups, why := splitBy(s.Trend.Along, cell)
	if why != nil {
		return nil, why
	}
	var line series
	for _, g := range groups {
		where := s.Trend.Along + "=" + g.Name
		y, why := s.figure(s.Metric, g, "at "+where)
		if why != nil {
			return nil, why
		}
		if !y.known() {
			continue
		}
		r := reading{y: y}
		if s.Kind == Slope {
			x, isNumber := results.Magnitude(g.Name)
			if !isNumber {
				return nil, undecidedBecause(Misfit, "%s is no number, so there is no line along it", where)
			}
			r.x = x
		}
		if len(g.Members) == 1 {
			r.repetitions = g.Members[0].repetitions(s.Metric)
		}
		line = append(line, r)
	}
	return line, nil
}

// repetitions is the metric of each repetition in which it is known, by the repetition's number.
func (s sample) repetitions(m results.Metric) map[int]float64 {
	values := map[int]float64{}
	m = m.AsRecorded()
	for _, r := range s.records {
		if v := m.Of(r); !math.IsNaN(v) {
			values[r.Repetition] = v
		}
	}
	return values
}
