package claim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// group is samples (measurements) under a name. Example: if a statement compares brokers, and partitions vary as well,
// the samples with 5 partitions are a cell named "partitionsPerTopic=5". Within it those of each broker are a group
// again, named "kafka" or "nats".
type group = results.Group[sample]

// grouped splits samples into cells by their values on axes, in the order of the first sample of each cell.
func grouped(samples []sample, axes []string) []group {
	return results.GroupBy(samples, func(s sample) string { return s.cellName(axes) })
}

// byCell is grouped by the names of the cells.
func byCell(samples []sample, axes []string) map[string]group {
	cells := map[string]group{}
	for _, cell := range grouped(samples, axes) {
		cells[cell.Name] = cell
	}
	return cells
}

// cellAxes returns the axes whose values make the cells: those that the statement gives, or else all on which the
// samples differ, but for those that it compares. If broker and topics vary and topics are compared, each broker is a
// cell.
func (s Statement) cellAxes(samples []sample, compared ...string) []string {
	if s.OverGiven {
		return s.Over
	}
	return varyingAxes(samples, compared...)
}

// varyingAxes returns the axes on which samples differ, but for the compared ones and that of the sides.
func varyingAxes(samples []sample, compared ...string) []string {
	values := results.Values{}
	for _, one := range samples {
		values.AddAll(one.point.Records[0].Axes)
		if one.rateIsAxis {
			values.Add(loadAxis, withoutExponent(one.rate))
		}
	}
	return slices.DeleteFunc(values.Varying(), func(axis string) bool {
		return axis == sideAxis || slices.Contains(compared, axis)
	})
}

// splitBy splits the samples of a cell by their values on an axis, which name the groups, in the order of the values.
func splitBy(axis string, cell group) ([]group, *undecided) {
	for _, one := range cell.Members {
		if _, ok := one.value(axis); !ok {
			return nil, undecidedBecause(Misfit, "no point has an axis or a setting %q", axis)
		}
	}
	groups := results.GroupBy(cell.Members, func(s sample) string {
		v, _ := s.value(axis)
		return v
	})
	slices.SortFunc(groups, func(a, b group) int { return results.CompareNames(a.Name, b.Name) })
	return groups, nil
}

// pooledFigure returns the metric over the samples of a group, pooled if several of them have it. There is none if no
// sample has the metric. where says for the reader of the reason where the group stands: "at x=2".
func (s Statement) pooledFigure(m results.Metric, g group, where string) (Figure, *undecided) {
	having := lists.Filter(g.Members, func(one sample) bool { return one.figure(m).known() })
	switch {
	case len(having) == 0:
		return Figure{}, nil
	case len(having) == 1:
		return having[0].figure(m), nil
	case s.Pool == "":
		return Figure{}, undecidedBecause(Misfit, "%d points %s: the claim has to name an axis in over, or how to pool them",
			len(having), where)
	}
	pooling := s.pooling(m)
	return pooled(pooling, lists.Map(having, func(one sample) Figure {
		return one.figure(m).withEnds(pooling, one.sharing(oneAlone(pooling, len(having))).figure(m))
	})), nil
}

func (s Statement) cellFigure(m results.Metric, cell group) (Figure, *undecided) {
	return s.pooledFigure(m, cell, fmt.Sprintf("of %s at %q", m.Name, cell.Name))
}

// noFigure returns why samples have no figure: the usable ones lack the metric, or none is usable.
func noFigure(samples []sample, m results.Metric) *undecided {
	statuses := map[string]bool{}
	for _, s := range samples {
		if len(s.records) > 0 {
			return undecidedBecause(NoFigure, "no figure of %s", m.Name)
		}
		statuses[s.status] = true
	}
	distinct := results.Shorten(slices.Sorted(maps.Keys(statuses)))
	return undecidedBecause(NoneUsable, "no repetition ended ok (%s)", strings.Join(distinct, "; "))
}
