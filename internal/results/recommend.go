package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/unit"
)

// Effect is the change that one axis of a sweep made: for each value, the factor between the metric with that value and with the
// first one, over all combinations of the other axes that were measured with both.
type Effect struct {
	Axis    string
	Values  []string
	Changes []Summary // by value; that of the first is of no combination
}

// Largest is the change that is farthest from 1, and its value. The value is 0 if nothing could be compared.
func (e Effect) Largest() (value int, change Summary) {
	far := -1.0
	for i, c := range e.Changes {
		if d := math.Abs(math.Log(c.Median)); c.N > 0 && d > far {
			value, change, far = i, c, d
		}
	}
	return value, change
}

// Effects are those of all axes in which points differ, the largest first. The points must have been given the same work.
func Effects(points []Point, m Metric) []Effect {
	axes, index := SweptAxes(points)
	medians := make([]float64, len(points))
	for i, p := range points {
		medians[i] = Summarize(m.Values(p.Ok())).Median
	}
	var effects []Effect
	for a, axis := range axes {
		e := Effect{Axis: axis.Name, Values: axis.Values, Changes: make([]Summary, len(axis.Values))}
		ratios := make([][]float64, len(axis.Values))
		first := map[string]float64{} // by the combination of the others
		for i := range points {
			if index[i][a] == 0 && medians[i] > 0 {
				first[others(index[i], a)] = medians[i]
			}
		}
		for i := range points {
			v := index[i][a]
			if base := first[others(index[i], a)]; v > 0 && base > 0 && medians[i] > 0 {
				ratios[v] = append(ratios[v], medians[i]/base)
			}
		}
		for v := range ratios {
			e.Changes[v] = Summarize(ratios[v])
		}
		effects = append(effects, e)
	}
	size := func(e Effect) float64 {
		if _, c := e.Largest(); c.N > 0 {
			return math.Abs(math.Log(c.Median))
		}
		return -1
	}
	slices.SortStableFunc(effects, func(a, b Effect) int { return cmp.Compare(size(b), size(a)) })
	return effects
}

// SweptAxes are the axes in which points differ, and for every point the index of its value on each.
func SweptAxes(points []Point) ([]Axis, [][]int) {
	loadPoints := make([]LoadPoint, len(points))
	for i, p := range points {
		loadPoints[i] = LoadPoint{Point: p, Name: p.Load(), Rate: fixedRate(p.Spec)}
	}
	return Axes(loadPoints)
}

// others names a combination of all axes but one.
func others(at []int, but int) string {
	var b strings.Builder
	for i, v := range at {
		if i != but {
			fmt.Fprintf(&b, "%d ", v)
		}
	}
	return b.String()
}

// Best orders points by the median of a metric, the best first; those without a figure are left out.
func Best(points []Point, m Metric) []Point {
	value := func(p Point) float64 { return Summarize(m.Values(p.Ok())).Median }
	sorted := slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return math.IsNaN(value(p)) })
	slices.SortStableFunc(sorted, func(a, b Point) int {
		if m.Better == Higher {
			return cmp.Compare(value(b), value(a))
		}
		return cmp.Compare(value(a), value(b))
	})
	return sorted
}

// Pareto are the points that no other beats: none is at least as good in all of the metrics and better in one. A metric that
// no point has is left out, and so is a point that lacks one of the others.
func Pareto(points []Point, metrics []Metric) []Point {
	values := make([][]float64, len(points))
	for i, p := range points {
		for _, m := range metrics {
			v := Summarize(m.Values(p.Ok())).Median
			if m.Better == Higher {
				v = -v
			}
			values[i] = append(values[i], v) // less is better
		}
	}
	known := func(k int) bool {
		return slices.ContainsFunc(values, func(v []float64) bool { return !math.IsNaN(v[k]) })
	}
	var kept []Point
	for i, p := range points {
		beaten := false
		for k := range metrics {
			beaten = beaten || known(k) && math.IsNaN(values[i][k])
		}
		for j := range points {
			beaten = beaten || dominates(values[j], values[i])
		}
		if !beaten {
			kept = append(kept, p)
		}
	}
	return kept
}

// dominates tells that a is nowhere worse than b and somewhere better; a metric that neither has doesn't count.
func dominates(a, b []float64) bool {
	better := false
	for k := range a {
		switch {
		case math.IsNaN(a[k]) && math.IsNaN(b[k]):
		case math.IsNaN(a[k]) || a[k] > b[k]:
			return false
		case a[k] < b[k]:
			better = true
		}
	}
	return better
}

// Tradeoff are the metrics between which a sweep has to choose: rate, unless it is given, latency and cost.
func Tradeoff(measure string) []Metric {
	var metrics []Metric
	if m, ok := Headline(measure); ok && (m.Unit == unit.PerSecond || m.Unit == unit.Seconds) {
		metrics = append(metrics, m)
	}
	return append(metrics, MustMetric("e2e_p99_ns"), MustMetric("broker_cpu_s_per_million"))
}
