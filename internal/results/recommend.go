package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// Effect is the effect of one axis of a sweep. For each value it compares the points that have this value with those that have
// the usual one and are equal on all other axes. The usual value is the default of specs, or else the first. With a throughput of
//
//	          linger=0  linger=5
//	batch=16    10k/s     20k/s
//	batch=32    30k/s     90k/s
//
// linger=5 changed it by the factors 2 and 3, whose median is 2.45 (see summarizeRatios); batch=32 changed it by 3 and 4.5.
type Effect struct {
	Axis    string
	Values  []string
	Usual   int       // the index of the value that the others are compared with
	Changes []Summary // by value: the ratios to the metric with the usual value; N is 0 if there are none, and for the usual value itself
}

// Largest is the index of the value whose change is farthest from a ratio of 1. It is 0 if nothing could be compared.
func (e Effect) Largest() int {
	largest := 0
	for i, c := range e.Changes {
		if distance(c) > distance(e.Changes[largest]) {
			largest = i
		}
	}
	return largest
}

// distance is how far a change is from none; −1 if it is not known. A half is as far as a double.
func distance(change Summary) float64 {
	if change.N == 0 {
		return -1
	}
	return math.Abs(math.Log(change.Median))
}

// Effects lists the effects of all axes in which points differ, the largest first. The points must have the same workload.
func Effects(points []Point, m Metric) []Effect {
	axes, places := SweptAxes(points)
	medians := lists.Map(points, func(p Point) float64 { return p.median(m) })
	var effects []Effect
	for i, axis := range axes {
		effects = append(effects, effectOf(i, axis, usualIn(axis, points), places, medians))
	}
	slices.SortStableFunc(effects, func(a, b Effect) int { return cmp.Compare(b.size(), a.size()) })
	return effects
}

// median is the median of a metric over the repetitions that ended ok; NaN if none has it, or if it has no upper bound.
func (p Point) median(m Metric) float64 {
	s := m.Over(p.Ok())
	if s.AtLeast() {
		return math.NaN()
	}
	return s.Median
}

// size orders effects by their largest change.
func (e Effect) size() float64 { return distance(e.Changes[e.Largest()]) }

// usualIn is the index of an axis's default value; 0 if it is not known, was not measured, or differs between brokers.
func usualIn(axis Axis, points []Point) int {
	found := -1
	for _, p := range points {
		value := study.UsualValue(p.Spec, axis.Name)
		i := slices.IndexFunc(axis.Values, func(v string) bool { return sameValue(axis.Name, v, value) })
		if i < 0 || found >= 0 && i != found {
			return 0
		}
		found = i
	}
	return max(0, found)
}

// sameValue reports whether two texts are the same value of a setting: "16KiB" and "16384".
func sameValue(path, a, b string) bool {
	of, okA := Magnitude(a)
	to, okB := Magnitude(b)
	return study.Same(path, a, b) || okA && okB && of == to
}

// effectOf is the effect of the axis with this index, compared with the value with the index usual. places and medians are those
// of the points, in their order. It leaves out points without a value on the axis, and points whose median is unknown or not
// positive, since they have no ratio.
func effectOf(index int, axis Axis, usual int, places []Place, medians []float64) Effect {
	baselines := map[string]float64{} // the median with the usual value, by the combination of the other axes
	for i, place := range places {
		if place[index] == usual && medians[i] > 0 {
			baselines[place.without(index)] = medians[i]
		}
	}
	ratios := make([][]float64, len(axis.Values)) // by value
	for i, place := range places {
		value := place[index] // Unset is below 0
		baseline, known := baselines[place.without(index)]
		if value >= 0 && value != usual && known && medians[i] > 0 {
			ratios[value] = append(ratios[value], medians[i]/baseline)
		}
	}
	return Effect{Axis: axis.Name, Values: axis.Values, Usual: usual, Changes: lists.Map(ratios, summarizeRatios)}
}

// without is the place on all axes but the i-th: "[2 0 1]".
func (p Place) without(i int) string {
	return fmt.Sprint(slices.Delete(slices.Clone(p), i, i+1))
}

// SweptAxes lists the axes in which points differ, and the place of each point on them, in the order of points. The rates of
// one curve are no axis.
func SweptAxes(points []Point) ([]Axis, []Place) {
	return Axes(lists.Map(points, func(p Point) LoadPoint { return LoadPoint{Point: p, Name: p.Load(), Rate: fixedRate(p.Spec)} }))
}

// Best lists the points by a figure's median over the repetitions that ended ok, the best first. It leaves out points whose
// figure has no bound on its worse side.
func Best(points []Point, m Metric) []Point {
	known := slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		s := m.Over(p.Ok())
		return s.N == 0 || s.AtLeast() && m.Better != Higher
	})
	slices.SortStableFunc(known, func(a, b Point) int { return m.compareSummaries(m.Over(a.Ok()), m.Over(b.Ok())) })
	return known
}

// Pareto lists the points that no other point beats (the Pareto front): none is at least as good in all metrics and better in
// one, whatever the measurement left open. It leaves out a metric that no point has, and a point that lacks one of the others. Of
// 10k/s at 5 ms, 8k/s at 2 ms and 8k/s at 3 ms the last is beaten by the second.
func Pareto(points []Point, metrics []Metric) []Point {
	known := lists.Filter(metrics, func(m Metric) bool {
		return slices.ContainsFunc(points, func(p Point) bool { return m.Over(p.Ok()).N > 0 })
	})
	costs := make([][]cost, len(points)) // by point and metric
	for i, p := range points {
		for _, m := range known {
			least, most := m.Over(p.Ok()).Truth()
			if m.Better == Higher {
				least, most = -most, -least
			}
			costs[i] = append(costs[i], cost{least, most})
		}
	}
	var front []Point
	for i, p := range points {
		isLacking := slices.ContainsFunc(costs[i], cost.isUnknown)
		isBeaten := slices.ContainsFunc(costs, func(other []cost) bool { return dominates(other, costs[i]) })
		if !isLacking && !isBeaten {
			front = append(front, p)
		}
	}
	return front
}

// cost is the interval in which a figure of a point lies; less is better. Both ends are NaN if the point lacks it.
type cost struct{ least, most float64 }

func (c cost) isUnknown() bool { return math.IsNaN(c.least) }

// dominates reports whether costs a are nowhere higher than b and somewhere lower. Costs that lack a figure dominate none. Equal
// intervals count as equal.
func dominates(a, b []cost) bool {
	isLower := false
	for k := range a {
		if a[k] == b[k] {
			continue
		}
		if a[k].isUnknown() || b[k].isUnknown() || a[k].most > b[k].least {
			return false
		}
		isLower = isLower || a[k].most < b[k].least
	}
	return isLower
}

// Tradeoff lists the metrics between which a sweep has to choose: latency, cost, and the rate or the time of its kind of
// measurement. A measurement at a given rate has only its latency as a headline.
func Tradeoff(measure string) []Metric {
	var metrics []Metric
	if m, ok := Headline(measure); ok && (m.Unit == unit.PerSecond || m.Unit == unit.Seconds) {
		metrics = append(metrics, m)
	}
	return append(metrics, MustMetric(KeyEndToEndP99), MustMetric(KeyBrokerCPU))
}
