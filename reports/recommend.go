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
	minSweepPoints = 4 // fewer points stand in one table already
	maxBest        = 5 // how many of the best points a table and a test take
)

// littleChange is the largest change, as the logarithm of a ratio, that counts as none: 1 %.
const littleChange = 0.01

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
		if same := s.constants(); same != "" {
			d.Say(same)
		}
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
	missed int             // how many with a figure don't
	axes   []results.Axis
	places map[string]results.Place // of points, by ID
}

// sweepsOf finds the workloads with at least minSweepPoints points of which some are of one broker at different settings. Where every
// broker has one point, the ranking of brokers says all.
func sweepsOf(points []results.Point) []sweep {
	var sweeps []sweep
	for _, w := range byWorkload(rankable(points)) {
		measure := w.points[0].Spec.Measure
		metric, ok := results.Headline(measure)
		brokers := groupBy(w.points, func(p results.Point) string { return p.Spec.Broker })
		if len(w.points) < minSweepPoints || len(brokers) == len(w.points) || !ok {
			continue
		}
		axes, places := results.SweptAxes(w.points)
		if !slices.ContainsFunc(axes, func(a results.Axis) bool { return a.Name != "broker" }) {
			continue
		}
		s := sweep{title: w.points[0].Setting() + ", " + w.points[0].Load(), metric: metric, points: w.points, axes: axes, places: map[string]results.Place{}}
		for i, p := range w.points {
			s.places[p.ID] = places[i]
		}
		for _, p := range results.Best(w.points, metric) {
			if misses(p, p.Ok()) {
				s.missed++
				continue
			}
			s.best = append(s.best, p)
		}
		if len(s.best)+s.missed > 1 {
			sweeps = append(sweeps, s)
		}
	}
	return sweeps
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

// at names the settings of a point: "client.linger.ms=5 client.batch.size=64KiB".
func (s sweep) at(p results.Point) string {
	var words []string
	for i, at := range s.places[p.ID] {
		switch axis := s.axes[i]; {
		case at == results.Unset:
		case axis.Name == "broker":
			words = append(words, axis.Values[at])
		default:
			words = append(words, axis.Name+"="+axis.Values[at])
		}
	}
	return strings.Join(words, " ")
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
	v.Finding = fmt.Sprintf("Of %d points %s is the best by %s: %s", len(s.points), s.at(s.best[0]), s.metric.Name, s.metric.Unit.Format(best))
	if middle := s.median(s.best[len(s.best)/2]); len(s.best) > 2 && middle > 0 && best > 0 {
		v.Finding += fmt.Sprintf(", %s the median of all", unit.Factor.Format(best/middle))
	}
	v.Finding += "." + s.sureness()
	v.Detail = strings.TrimSpace(s.notConsidered() + s.largestEffect())
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
	return "Not considered: " + strings.Join(parts, ", ") + ". "
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

// sureness says how many of the next best may be as good as the best. It is empty if all are shown to be behind it.
func (s sweep) sureness() string {
	if len(s.best) < 2 {
		return ""
	}
	var contenders []results.Contender
	for _, p := range s.best[:min(maxBest, len(s.best))] {
		contenders = append(contenders, results.NewContender(s.at(p), s.metric, p.Ok()))
	}
	ranking := results.Rank(s.metric, contenders)
	if open := ranking.BehindBest(results.NoDifferenceShown); len(open) > 0 {
		return fmt.Sprintf(" No difference to it is shown for %d of the next best %d.", len(open), len(contenders)-1)
	}
	if open := ranking.BehindBest(results.NotTested); len(open) > 0 {
		return " With so few repetitions the order of the best is not tested."
	}
	return ""
}

// constants names the settings that all points share.
func (s sweep) constants() string {
	var words []string
	varies := func(name string) bool {
		return slices.ContainsFunc(s.axes, func(a results.Axis) bool { return a.Name == name })
	}
	if !varies("broker") {
		words = append(words, s.points[0].Product)
	}
	for _, name := range statedAbove {
		if value := shared(s.points, name); value != "" && !varies(name) {
			words = append(words, name+" "+value)
		}
	}
	if words == nil {
		return ""
	}
	return "All points: " + strings.Join(words, ", ") + "."
}

// table has a row for each point: its value on each axis, the headline, and the metrics between which the sweep has to choose.
func (s sweep) table(title string, points []results.Point) document.Table {
	var columns []columnOf[results.Point]
	for i, a := range s.axes {
		columns = append(columns, columnOf[results.Point]{AxisColumn(a.Name), func(p results.Point) document.Cell {
			at := s.places[p.ID][i]
			if at == results.Unset {
				return document.Cell{}
			}
			return document.Text(a.Values[at])
		}})
	}
	keys := []string{s.metric.Key}
	for _, m := range results.Tradeoff(s.points[0].Spec.Measure) {
		if !slices.Contains(keys, m.Key) && slices.ContainsFunc(s.points, func(p results.Point) bool { return len(m.Values(p.Ok())) > 0 }) {
			keys = append(keys, m.Key)
		}
	}
	for _, c := range metricColumns(keys, nil) {
		columns = append(columns, columnOf[results.Point]{c, func(p results.Point) document.Cell { return summaryOf(c.Key, p.Ok()).Cell() }})
	}
	t := tableOf(append(columns, columnOf[results.Point]{
		document.Column{Key: "n", Name: "n", Unit: unit.Count}, func(p results.Point) document.Cell { return document.Number(len(p.Ok())) },
	}), points)
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
				changes = append(changes, axisChange{e.Axis, e.Values[0], e.Values[i], c})
			}
		}
	}
	t := tableOf([]columnOf[axisChange]{
		{document.Column{Key: "axis", Name: "axis", Row: true}, func(c axisChange) document.Cell { return document.Text(c.axis) }},
		{document.Column{Key: "from", Name: "from", Row: true}, func(c axisChange) document.Cell { return document.Text(c.from) }},
		{document.Column{Key: "to", Name: "to", Row: true}, func(c axisChange) document.Cell { return document.Text(c.to) }},
		{document.Column{Key: "change", Name: "change", Unit: unit.Factor, Spread: true}, func(c axisChange) document.Cell { return c.Cell() }},
		{document.Column{Key: "combinations", Name: "combinations", Unit: unit.Count}, func(c axisChange) document.Cell { return document.Number(c.N) }},
	}, changes)
	t.Title = "What each axis changed: " + s.metric.Name
	return t
}
