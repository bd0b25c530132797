package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/unit"
)

// Effect is what one axis of a sweep changed. For each value it compares the points that have this value with those that have the first
// one and are equal on all other axes.
type Effect struct {
	Axis    string
	Values  []string
	Changes []Summary // by value: the ratio to the metric with the first value, over the combinations of the other axes
}

// Largest is the change that is farthest from a ratio of 1, and the index of its value. Its N is 0 if nothing could be compared.
func (e Effect) Largest() (value int, change Summary) {
	for i, c := range e.Changes {
		if c.N > 0 && (change.N == 0 || distance(c) > distance(change)) {
			value, change = i, c
		}
	}
	return value, change
}

// distance is how far a change is from none. Half as much is as far as twice as much.
func distance(change Summary) float64 { return math.Abs(math.Log(change.Median)) }

// Effects lists the effects of all axes in which points differ, the largest first. The points must have been given the same work.
func Effects(points []Point, m Metric) []Effect {
	axes, places := SweptAxes(points)
	medians := make([]float64, len(points))
	for i, p := range points {
		medians[i] = Summarize(m.Values(p.Ok())).Median
	}
	var effects []Effect
	for i, axis := range axes {
		effects = append(effects, effectOf(i, axis, places, medians))
	}
	slices.SortStableFunc(effects, func(a, b Effect) int { return cmp.Compare(b.size(), a.size()) })
	return effects
}

// size orders effects; one of which nothing is known is the least.
func (e Effect) size() float64 {
	_, change := e.Largest()
	if change.N == 0 {
		return -1
	}
	return distance(change)
}

// effectOf is the effect of the i-th axis. A median that is not positive, or not known, has no ratio.
func effectOf(i int, axis Axis, places []Place, medians []float64) Effect {
	base := map[string]float64{} // the median with the first value, by the combination of the other axes
	for p, at := range places {
		if at[i] == 0 && medians[p] > 0 {
			base[at.without(i)] = medians[p]
		}
	}
	ratios := make([][]float64, len(axis.Values))
	for p, at := range places {
		first := base[at.without(i)]
		if at[i] > 0 && first > 0 && medians[p] > 0 {
			ratios[at[i]] = append(ratios[at[i]], medians[p]/first)
		}
	}
	e := Effect{Axis: axis.Name, Values: axis.Values}
	for _, r := range ratios {
		e.Changes = append(e.Changes, Summarize(r))
	}
	return e
}

// without names the place on all axes but the i-th.
func (p Place) without(i int) string {
	var b strings.Builder
	for k, at := range p {
		if k != i {
			fmt.Fprintf(&b, "%d ", at)
		}
	}
	return b.String()
}

// SweptAxes lists the axes in which points differ as a whole, and the place of each point on them.
func SweptAxes(points []Point) ([]Axis, []Place) {
	loadPoints := make([]LoadPoint, len(points))
	for i, p := range points {
		loadPoints[i] = LoadPoint{Point: p, Name: p.Load(), Rate: fixedRate(p.Spec)}
	}
	return Axes(loadPoints)
}

// Best lists the points that have a figure, by its median, the best first.
func Best(points []Point, m Metric) []Point {
	median := func(p Point) float64 { return Summarize(m.Values(p.Ok())).Median }
	sorted := slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return math.IsNaN(median(p)) })
	slices.SortStableFunc(sorted, func(a, b Point) int {
		if m.Better == Higher {
			a, b = b, a
		}
		return cmp.Compare(median(a), median(b))
	})
	return sorted
}

// Pareto lists the points that no other point beats (the Pareto front): none is at least as good in all metrics and better in one. A
// metric that no point has is left out, and so is a point that lacks one of the others.
func Pareto(points []Point, metrics []Metric) []Point {
	costs := make([][]float64, len(points)) // by point and metric: less is better; NaN if not known
	for i, p := range points {
		for _, m := range metrics {
			cost := Summarize(m.Values(p.Ok())).Median
			if m.Better == Higher {
				cost = -cost
			}
			costs[i] = append(costs[i], cost)
		}
	}
	var known []int // the metrics that any point has
	for k := range metrics {
		if slices.ContainsFunc(costs, func(of []float64) bool { return !math.IsNaN(of[k]) }) {
			known = append(known, k)
		}
	}
	var front []Point
	for i, p := range points {
		lacking := slices.ContainsFunc(known, func(k int) bool { return math.IsNaN(costs[i][k]) })
		beaten := slices.ContainsFunc(costs, func(other []float64) bool { return dominates(other, costs[i]) })
		if !lacking && !beaten {
			front = append(front, p)
		}
	}
	return front
}

// dominates tells whether costs a are nowhere higher than b and somewhere lower. A metric that neither has doesn't count.
func dominates(a, b []float64) bool {
	lower := false
	for k := range a {
		switch {
		case math.IsNaN(a[k]) && math.IsNaN(b[k]):
		case math.IsNaN(a[k]) || a[k] > b[k]:
			return false
		case a[k] < b[k]:
			lower = true
		}
	}
	return lower
}

// Tradeoff lists the metrics between which a sweep has to choose: rate, unless it is given, latency and cost.
func Tradeoff(measure string) []Metric {
	var metrics []Metric
	if m, ok := Headline(measure); ok && (m.Unit == unit.PerSecond || m.Unit == unit.Seconds) {
		metrics = append(metrics, m)
	}
	return append(metrics, MustMetric(KeyEndToEndP99), MustMetric(KeyBrokerCPU))
}
