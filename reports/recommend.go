// The recommend report: the best settings of a sweep, and what each axis changed.

package reports

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "recommend",
		Doc:   "of a sweep: the best few, what each axis changed, and the points that no other beats in rate, latency and cost",
		Build: recommend,
	})
}

const (
	minSweepPoints = 4    // the summary shows fewer points in one table anyway
	maxBest        = 5    // how many of the best points a table and a test take
	littleChange   = 0.01 // the logarithm of a ratio below which a change counts as none: 1 %
)

func recommend(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Recommendation"}
	sweeps := sweepsOf(set.Points)
	if len(sweeps) == 0 {
		d.Say(statusSentence(set.Points))
		d.Say(fmt.Sprintf("There is nothing to recommend: no workload has at least %d points that differ in a setting. "+
			"The summary (brokermark report) ranks those there are.", minSweepPoints))
		return d, nil
	}
	for _, s := range sweeps {
		d.Add(document.Heading{Level: 1, Text: s.title})
		v := s.verdict()
		v.Headed = true
		d.Add(v)
		d.Say(s.constants())
		best := s.best[:min(maxBest, len(s.best))]
		d.Add(s.table(fmt.Sprintf("The best %d of %d by %s", len(best), len(s.points), s.metric.Name), best))
		if effects := s.effects(); len(effects.Rows) > 0 {
			d.Add(effects)
		}
		if kept := results.Pareto(s.best, results.Tradeoff(s.points[0].Spec.Measure)); len(kept) > 1 {
			d.Add(s.table("What no other point beats in rate, latency and cost", kept))
		}
	}
	d.Say("Figures are medians over n repetitions that ended ok. What an axis changed is a median over the combinations of the other " +
		"axes: with six or more its 95 % interval stands beside it, with fewer the smallest and the largest change.")
	return d, nil
}

// sweep is a workload that was measured at several settings.
type sweep struct {
	title  string
	metric results.Metric // the headline of the workload
	points []results.Point
	best   []results.Point // those with a figure that keep their objectives, the best first
	missed int             // how many points have a figure and miss an objective
	axes   []results.Axis
	places map[string]results.Place // of points, by ID
}

// sweepsOf finds the workloads with at least minSweepPoints points of which some are of one broker at different settings. Where every
// broker has one point, the ranking of brokers says all.
func sweepsOf(points []results.Point) []sweep {
	var sweeps []sweep
	for _, w := range byWorkload(rankable(points)) {
		brokers := groupBy(w.points, func(p results.Point) string { return p.Spec.Broker })
		if len(w.points) < minSweepPoints || len(brokers) == len(w.points) {
			continue
		}
		if s, ok := sweepOf(w.points); ok {
			sweeps = append(sweeps, s)
		}
	}
	return sweeps
}

// sweepOf is the sweep of the points of one workload. ok is false if they differ in no setting but the broker, or if fewer than two of
// them have a figure to recommend them by.
func sweepOf(points []results.Point) (s sweep, ok bool) {
	first := points[0]
	metric, ok := results.Headline(first.Spec.Measure)
	if !ok {
		return sweep{}, false
	}
	axes, places := results.SweptAxes(points)
	if !slices.ContainsFunc(axes, func(a results.Axis) bool { return a.Name != "broker" }) {
		return sweep{}, false
	}
	s = sweep{title: first.Setting() + ", " + first.Load(), metric: metric, points: points, axes: axes, places: map[string]results.Place{}}
	for i, p := range points {
		s.places[p.ID] = places[i]
	}
	for _, p := range results.Best(points, metric) {
		if misses(p, p.Ok()) {
			s.missed++
		} else {
			s.best = append(s.best, p)
		}
	}
	return s, len(s.best)+s.missed > 1
}

// recommended tells whether all of g is sweeps of one broker each. The recommendation then replaces the ranking, which would rank
// the broker against itself.
func recommended(g group, sweeps []sweep) bool {
	for _, w := range byWorkload(g.points) {
		first := w.points[0]
		swept := slices.ContainsFunc(sweeps, func(s sweep) bool { return s.points[0].ID == first.ID })
		severalProducts := slices.ContainsFunc(w.points, func(p results.Point) bool { return p.Product != first.Product })
		if !swept || severalProducts {
			return false
		}
	}
	return true
}

// settings names the values of a point on the axes: "client.linger.ms=5 client.batch.size=64KiB".
func (s sweep) settings(p results.Point) string {
	var words []string
	for i, axis := range s.axes {
		switch value, ok := s.value(p, i); {
		case !ok:
		case axis.Name == "broker":
			words = append(words, value)
		default:
			words = append(words, axis.Name+"="+value)
		}
	}
	return strings.Join(words, " ")
}

// value is the value of a point on axis i. ok is false if the point has none.
func (s sweep) value(p results.Point, i int) (value string, ok bool) {
	place := s.places[p.ID][i]
	if place == results.Unset {
		return "", false
	}
	return s.axes[i].Values[place], true
}

// median is the figure by which a point is recommended.
func (s sweep) median(p results.Point) float64 {
	return results.Summarize(s.metric.Values(p.Ok())).Median
}

// verdict names the best settings, the gain, and how sure that is.
func (s sweep) verdict() document.Verdict {
	v := document.Verdict{About: "Recommendation, " + s.title}
	if len(s.best) == 0 {
		v.Finding = fmt.Sprintf("None of the %d points that were measured keeps its objectives.", s.missed)
		return v
	}
	best := s.median(s.best[0])
	v.Finding = fmt.Sprintf("Of %d points %s is the best by %s: %s", len(s.points), s.settings(s.best[0]), s.metric.Name, s.metric.Unit.Format(best))
	if middle := s.median(s.best[len(s.best)/2]); len(s.best) > 2 && middle > 0 && best > 0 {
		v.Finding += fmt.Sprintf(", %s the median of all", unit.Factor.Format(best/middle))
	}
	v.Finding = strings.TrimSpace(v.Finding + ". " + s.rivals())
	v.Detail = strings.TrimSpace(s.notConsidered() + " " + s.largestEffect())
	return v
}

// largestEffect says which axis changed the metric most. It is empty if no values of an axis can be compared.
func (s sweep) largestEffect() string {
	for _, e := range results.Effects(s.points, s.metric) { // the largest first
		value, change := e.Largest()
		switch {
		case change.N == 0:
		case math.Abs(math.Log(change.Median)) < littleChange:
			return "No axis changed it by more than 1 %."
		default:
			return fmt.Sprintf("Most was changed by %s: %s instead of %s made it %s.", e.Axis, e.Values[value], e.Values[0], spread(change))
		}
	}
	return ""
}

// notConsidered counts the points that are left out: "2 that miss an objective, 3 without a usable figure (1 failed, 2 void)".
func (s sweep) notConsidered() string {
	var parts []string
	if s.missed > 0 {
		parts = append(parts, fmt.Sprintf("%d that miss an objective", s.missed))
	}
	count, without := map[results.Status]int{}, 0
	for _, p := range s.points {
		if len(s.metric.Values(p.Ok())) == 0 {
			count[worstStatus(p)]++
			without++
		}
	}
	if without > 0 {
		var words []string
		for _, status := range slices.Sorted(maps.Keys(count)) {
			words = append(words, fmt.Sprintf("%d %s", count[status], status))
		}
		parts = append(parts, fmt.Sprintf("%d without a usable figure (%s)", without, strings.Join(words, ", ")))
	}
	if parts == nil {
		return ""
	}
	return "Not considered: " + strings.Join(parts, ", ") + "."
}

// worstStatus is the worst ending of a point's repetitions.
func worstStatus(p results.Point) results.Status {
	for _, status := range []results.Status{results.Failed, results.Void, results.Aborted, results.Refused} {
		if slices.ContainsFunc(p.Records, func(r results.Record) bool { return r.Status == status }) {
			return status
		}
	}
	return results.OK
}

// spread is a change with its interval: "1.50× [1.40×–1.60×]".
func spread(c results.Summary) string {
	text := unit.Factor.Format(c.Median)
	if c.N > 1 {
		text += fmt.Sprintf(" [%s–%s]", unit.Factor.Format(c.Low), unit.Factor.Format(c.High))
	}
	return text
}

// rivals says how many of the next best may be as good as the best. It is empty if all are shown to be behind it.
func (s sweep) rivals() string {
	if len(s.best) < 2 {
		return ""
	}
	var contenders []results.Contender
	for _, p := range s.best[:min(maxBest, len(s.best))] {
		contenders = append(contenders, results.NewContender(s.settings(p), s.metric, p.Ok()))
	}
	ranking := results.Rank(s.metric, contenders)
	if open := ranking.BehindBest(results.NoDifferenceShown); len(open) > 0 {
		return fmt.Sprintf("No difference to it is shown for %d of the next best %d.", len(open), len(contenders)-1)
	}
	if open := ranking.BehindBest(results.NotTested); len(open) > 0 {
		return "With so few repetitions the order of the best is not tested."
	}
	return ""
}

// constants names the settings that all points share. It is empty if there are none.
func (s sweep) constants() string {
	var words []string
	if !s.varies("broker") {
		words = append(words, s.points[0].Product)
	}
	for _, path := range statedAbove {
		if value := shared(s.points, path); value != "" && !s.varies(path) {
			words = append(words, path+" "+value)
		}
	}
	if words == nil {
		return ""
	}
	return "All points: " + strings.Join(words, ", ") + "."
}

func (s sweep) varies(path string) bool {
	return slices.ContainsFunc(s.axes, func(a results.Axis) bool { return a.Name == path })
}

// table has a row for each point: its value on each axis, the headline, and the metrics between which the sweep has to choose.
func (s sweep) table(title string, points []results.Point) document.Table {
	var columns []columnOf[results.Point]
	for i, a := range s.axes {
		columns = append(columns, textColumn(AxisColumn(a.Name), func(p results.Point) string {
			value, _ := s.value(p, i)
			return value
		}))
	}
	keys := []string{s.metric.Key}
	for _, m := range results.Tradeoff(s.points[0].Spec.Measure) {
		if !slices.Contains(keys, m.Key) && slices.ContainsFunc(s.points, func(p results.Point) bool { return len(m.Values(p.Ok())) > 0 }) {
			keys = append(keys, m.Key)
		}
	}
	for _, c := range metricColumns(keys, nil) {
		columns = append(columns, cellColumn(c, func(p results.Point) document.Cell { return summaryOf(c.Key, p.Ok()).Cell() }))
	}
	columns = append(columns, numberColumn(document.Column{Key: "n", Name: "n", Unit: unit.Count}, func(p results.Point) int { return len(p.Ok()) }))
	t := tableOf(columns, points)
	t.Title = title
	return t
}

// axisChange is the change that one value of an axis made, against its first value.
type axisChange struct {
	axis, from, to string
	results.Summary
}

// effects is a table of the change that each axis made.
func (s sweep) effects() document.Table {
	var changes []axisChange
	for _, e := range results.Effects(s.points, s.metric) {
		for i, c := range e.Changes {
			if c.N > 0 && !math.IsNaN(c.Median) {
				changes = append(changes, axisChange{axis: e.Axis, from: e.Values[0], to: e.Values[i], Summary: c})
			}
		}
	}
	t := tableOf([]columnOf[axisChange]{
		textColumn(document.Column{Key: "axis", Name: "axis", Row: true}, func(c axisChange) string { return c.axis }),
		textColumn(document.Column{Key: "from", Name: "from", Row: true}, func(c axisChange) string { return c.from }),
		textColumn(document.Column{Key: "to", Name: "to", Row: true}, func(c axisChange) string { return c.to }),
		cellColumn(document.Column{Key: "change", Name: "change", Unit: unit.Factor, Spread: true}, func(c axisChange) document.Cell { return c.Cell() }),
		numberColumn(document.Column{Key: "combinations", Name: "combinations", Unit: unit.Count}, func(c axisChange) int { return c.N }),
	}, changes)
	t.Title = "What each axis changed: " + s.metric.Name
	return t
}
