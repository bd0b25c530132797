package claim

import (
	"math"

	"github.com/brokermark/brokermark/internal/results"
)

// series is a metric along an axis, in the order of the axis' values: publish_rate at 1, 5 and 50 topics.
type series []reading

// reading is the metric at one value of the axis.
type reading struct {
	x           float64 // the value of the axis as a number; only for a slope
	y           Figure
	repetitions map[int]float64 // the metric of each repetition, by the repetition's number; nil if y is pooled
}

func (line series) figures() []Figure {
	var figures []Figure
	for _, at := range line {
		figures = append(figures, at.y)
	}
	return figures
}

// trend judges slopes and shapes: how the metric goes along an axis, in each cell.
func (s Statement) trend(chosen []sample) (Part, error) {
	var p Part
	tooShort := 0
	for _, g := range grouped(chosen, s.cellAxes(chosen, s.Trend.Along)) {
		line, err := s.along(g)
		switch {
		case err != nil:
			return Part{}, err
		case len(line) == 0:
			p.addMissing(g.Members)
		case len(line) < s.leastValues():
			p.addMissing(g.Members)
			tooShort++
		case s.Kind == Shape:
			cell := Cell{Name: g.Name, N: fewestRepetitions(line.figures())}
			cell.Figure, cell.Verdict = s.Trend.judgeShape(line.figures())
			p.Cells = append(p.Cells, cell)
		default:
			p.Cells = append(p.Cells, s.Trend.slopeCell(g.Name, line))
		}
	}
	switch {
	case len(p.Cells) > 0:
		return p, nil
	case tooShort > 0:
		return Part{}, undecidedBecause(TooFew, "fewer than %d values of %s were measured", s.leastValues(), s.Trend.Along)
	}
	return Part{}, noFigure(chosen, s.Metric)
}

// leastValues is how many values of the axis a statement needs: two always lie on a line and have no interior.
func (s Statement) leastValues() int {
	if s.Kind == Slope || s.Trend.Form == interiorMaximum {
		return 3
	}
	return 2
}

// along is the metric of a cell along the axis, without the values at which it isn't known.
func (s Statement) along(cell group) (series, error) {
	points, err := splitBy(s.Trend.Along, cell)
	if err != nil {
		return nil, err
	}
	var line series
	for _, g := range points {
		where := s.Trend.Along + "=" + g.Name
		f, err := s.figure(s.Metric, g, "at "+where)
		if err != nil {
			return nil, err
		}
		if f.N == 0 {
			continue
		}
		at := reading{y: f, repetitions: repetitionsOf(g.Members, s.Metric)}
		if s.Kind == Slope {
			x, ok := results.Magnitude(g.Name)
			if !ok {
				return nil, undecidedBecause(Misfit, "%s is no number, so there is no line along it", where)
			}
			at.x = x
		}
		line = append(line, at)
	}
	return line, nil
}

// repetitionsOf is the metric of each repetition of the only sample. It is nil for several samples.
func repetitionsOf(samples []sample, m results.Metric) map[int]float64 {
	if len(samples) != 1 {
		return nil
	}
	values := map[int]float64{}
	m = m.AsRecorded()
	for _, r := range samples[0].records {
		if v := m.Of(r); !math.IsNaN(v) {
			values[r.Repetition] = v
		}
	}
	return values
}
