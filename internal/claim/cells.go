package claim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// group is the samples of one cell. Its name has the values of the axes that make cells: "partitionsPerTopic=5 acks=all".
type group = results.Group[sample]

// grouped groups samples by their values on axes, in the order of the first sample of each group.
func grouped(samples []sample, axes []string) []group {
	return results.GroupBy(samples, func(s sample) string { return s.valuesOn(axes) })
}

// cellAxes are the axes whose values make the cells: those that the statement gives or else all in which the samples differ, but
// for the ones that it compares along.
func (s Statement) cellAxes(samples []sample, compared ...string) []string {
	if s.OverGiven {
		return s.Over
	}
	values := results.Values{}
	for _, one := range samples {
		for axis := range one.point.Records[0].Axes {
			v, _ := one.value(axis)
			values.Add(axis, v)
		}
		if one.manyRates {
			v, _ := one.value(loadAxis)
			values.Add(loadAxis, v)
		}
	}
	return slices.DeleteFunc(values.Varying(), func(axis string) bool { return axis == sideAxis || slices.Contains(compared, axis) })
}

// figure is the figure of a cell, pooled if several of its samples have one. It is none if no sample has the metric.
func (s Statement) figure(g group, m results.Metric) (Figure, error) {
	var figures []Figure
	for _, one := range g.Members {
		if f := one.figure(m); f.N > 0 {
			figures = append(figures, f)
		}
	}
	switch {
	case len(figures) == 0:
		return Figure{}, nil
	case len(figures) == 1:
		return figures[0], nil
	case s.Pool == "":
		return Figure{}, ambiguous(g, fmt.Sprintf("of %s at %q", m.Name, g.Name))
	}
	return pooled(s.pooling(m), figures), nil
}

// ambiguous is the error of a cell with several points and no way to pool them.
func ambiguous(g group, where string) error {
	return undecidedBecause(Misfit, "%d points %s: the claim has to name an axis in over, or how to pool them", len(g.Members), where)
}

// noFigure is the error of samples none of which has a figure.
func noFigure(samples []sample, m results.Metric) error {
	statuses := map[string]bool{}
	for _, s := range samples {
		if len(s.records) > 0 {
			return undecidedBecause(NoFigure, "no figure of %s", m.Name)
		}
		statuses[s.status] = true
	}
	return undecidedBecause(NoneUsable, "no repetition ended ok (%s)", strings.Join(results.Shorten(slices.Sorted(maps.Keys(statuses))), "; "))
}
