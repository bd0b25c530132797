// The recommend report: the best settings of a sweep, and what each setting changed. A sweep is one
// workload that was measured at several settings, the axes of the sweep. Here the axes are a producer's
// batch size and linger:
//
//	Of 8 points client.batch.size=16KiB client.linger.ms=0 is the best by e2e p99: 12.9 ms, 0.80× the
//	median of all. No difference to it is shown for 2 of the next best 4. client.linger.ms had the
//	largest effect: with 20 instead of 0 e2e p99 was 1.50× [1.40–1.60×] (3 pairs, not tested).
//
//	The best 5 of 8 by e2e p99
//	batch.size  linger.ms  e2e p99  CPU broker  n
//	16KiB       0          12.9 ms      1.94 s  1

package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/explain"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name: "recommend",
		Doc: "of advise: which broker to take, and why; of tune: which settings; of a sweep: the best few, what each axis changed, and the points that no " +
			"other beats in rate, latency and cost",
		Build: recommendReport,
	})
}

const (
	minSweepPoints = 4 // with fewer points, one glance at the summary's table tells as much
	maxBest        = 5 // how many of the best points are shown and tested
	maxSweepAxes   = 100
)

func recommendReport(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Recommendation"}
	cases, err := addAdvice(&d, set)
	if err != nil {
		return d, err
	}
	ofNone := slices.DeleteFunc(slices.Clone(set.Points), func(p results.Point) bool {
		return ofTuning(p) || explain.Explains(p.Records[0].Study) || slices.ContainsFunc(cases, func(c *advise.Case) bool { return c.Contains(p.ID) })
	})
	tuned := addTunings(&d, set)
	sweeps := sweepsOf(ofNone)
	if len(sweeps) == 0 && (tuned || len(cases) > 0) {
		return d, nil
	}
	if len(sweeps) == 0 {
		d.Say(statusSentence(set.Points))
		d.Say(fmt.Sprintf("There is nothing to recommend: no workload has at least %d points that differ in a setting. "+
			"The summary (brokermark report) ranks those there are.", minSweepPoints))
		return d, nil
	}
	for _, s := range sweeps {
		s.addTo(&d)
	}
	d.Say(doubtsSentence(set.Points))
	d.Say("Figures are medians over n repetitions that ended ok. What an axis changed is a median over the combinations of the other " +
		"axes: with six or more its 95 % interval stands beside it, with fewer the smallest and the largest change.")
	return d, nil
}

// sweep is a workload that was measured at several settings.
type sweep struct {
	title  string
	metric results.Metric // by which points are ranked: the headline of the workload
	points []results.Point
	ranked []results.Point     // those with a figure that keep their objectives, the best first
	missed []results.Point     // those with a figure that miss an objective
	axes   []string            // the settings in which points differ: broker, linger.ms
	values map[string][]string // by the ID of a point: its value on each axis, empty where it has none: kafka, 5
}

// sweepsOf finds the workloads with at least minSweepPoints points of which some are of one broker at
// different settings. Where every broker has one point, the ranking of brokers says all.
func sweepsOf(points []results.Point) []sweep {
	var sweeps []sweep
	for _, w := range byWorkload(rankable(points)) {
		metric, hasHeadline := results.HeadlineOf(w.Members)
		brokers := results.GroupBy(w.Members, func(p results.Point) string { return p.Spec.Broker })
		onePointEach := len(brokers) == len(w.Members)
		if !hasHeadline || onePointEach || len(w.Members) < minSweepPoints {
			continue
		}
		axes, places := results.SweptAxes(w.Members)
		if len(axes) > maxSweepAxes { // a row has a value on each, and each is compared over the combinations of the others
			continue
		}
		s := newSweep(w.Members, metric, axes, places)
		sweptSetting := slices.ContainsFunc(s.axes, func(axis string) bool { return axis != "broker" })
		withFigure := len(s.ranked) + len(s.missed)
		if sweptSetting && withFigure > 1 {
			sweeps = append(sweeps, s)
		}
	}
	return sweeps
}

func newSweep(points []results.Point, metric results.Metric, axes []results.Axis, places []results.Place) sweep {
	s := sweep{title: results.Title(points) + ", " + points[0].Load(), metric: metric, points: points, values: map[string][]string{}}
	s.axes = lists.Map(axes, func(a results.Axis) string { return a.Name })
	for i, p := range points {
		values := make([]string, len(axes))
		for k, axis := range axes {
			if index := places[i][k]; index != results.Unset {
				values[k] = axis.Values[index]
			}
		}
		s.values[p.ID] = values
	}
	for _, p := range results.Best(points, metric) {
		if missesObjective(p, p.Ok()) {
			s.missed = append(s.missed, p)
		} else {
			s.ranked = append(s.ranked, p)
		}
	}
	return s
}

// best are the first few of the ranked points.
func (s sweep) best() []results.Point { return s.ranked[:min(maxBest, len(s.ranked))] }

// tradeoff lists the metrics between which one has to choose: rate, latency and cost.
func (s sweep) tradeoff() []results.Metric { return results.Tradeoff(s.points[0].Spec.Measure) }

// isRecommended reports whether points are those of sweeps of one broker each. Then the recommendation
// replaces the ranking, which would rank the broker against itself.
func isRecommended(points []results.Point, sweeps []sweep) bool {
	for _, w := range byWorkload(points) {
		first := w.Members[0]
		swept := slices.ContainsFunc(sweeps, func(s sweep) bool { return s.values[first.ID] != nil })
		severalProducts := slices.ContainsFunc(w.Members, func(p results.Point) bool { return p.Product != first.Product })
		if !swept || severalProducts {
			return false
		}
	}
	return true
}

// addTo adds the recommendation in words, then its tables.
func (s sweep) addTo(d *document.Document) {
	d.Add(document.Heading{Level: 1, Text: s.title})
	v := s.verdict()
	v.Headed = true
	d.Add(v)
	d.Say(s.layout().sentence())
	best := s.best()
	d.Add(s.table(fmt.Sprintf("The best %d of %d by %s", len(best), len(s.ranked)+len(s.missed), s.metric.Name), best))
	if effects := s.effectTable(); len(effects.Rows) > 0 {
		d.Add(effects)
	}
	if unbeaten := results.Pareto(s.ranked, s.tradeoff()); len(unbeaten) > 1 {
		d.Add(s.table("What no other point beats in rate, latency and cost", unbeaten))
	}
}

// layout has a column for each axis, and states what all points share.
func (s sweep) layout() layout {
	l := layout{axes: s.axes, settings: sharedSettings(s.points, s.axes)}
	if !slices.Contains(s.axes, "broker") {
		l.broker = s.points[0].Product
	}
	return l
}

// settings names the values of a point on the axes: "kafka linger.ms=5 batch.size=64KiB".
func (s sweep) settings(p results.Point) string {
	var words []string
	for i, axis := range s.axes {
		switch value := s.values[p.ID][i]; {
		case value == "":
		case axis == "broker":
			words = append(words, value)
		default:
			words = append(words, axis+"="+value)
		}
	}
	return strings.Join(words, " ")
}

// table has a row for each point: its value on each axis, the figure that it is ranked by, and the
// metrics between which one has to choose.
func (s sweep) table(title string, points []results.Point) document.Table {
	var columns []columnOf[results.Point]
	for i, axis := range s.axes {
		columns = append(columns, textColumn(AxisColumn(axis), func(p results.Point) string { return s.values[p.ID][i] }))
	}
	keys := []string{s.metric.Key}
	for _, m := range s.tradeoff() {
		measured := slices.ContainsFunc(s.points, func(p results.Point) bool { return len(m.Values(p.Ok())) > 0 })
		if measured && !slices.Contains(keys, m.Key) {
			keys = append(keys, m.Key)
		}
	}
	columns = append(columns, metricColumns(keys, nil, func(p results.Point, key string) document.Cell {
		return results.MustMetric(key).Over(p.Ok()).Cell()
	})...)
	columns = append(columns, repetitionsColumn(func(p results.Point) int { return len(p.Ok()) }))
	return tableOf(title, columns, points)
}

// axisChange is the change that one value of an axis made, against the axis's usual value: linger.ms=20
// instead of 0 made the metric 1.5 times as large, in the median over the combinations of the other axes.
type axisChange struct {
	axis, from, to string
	ratio          results.Summary
}

// effectTable shows the changes that each axis made.
func (s sweep) effectTable() document.Table {
	var changes []axisChange
	for _, e := range results.Effects(s.points, s.metric) {
		for i, ratio := range e.Changes {
			if ratio.N > 0 {
				changes = append(changes, axisChange{axis: e.Axis, from: e.Values[e.Usual], to: e.Values[i], ratio: ratio})
			}
		}
	}
	return tableOf("What each axis changed: "+s.metric.Name, effectColumns, changes)
}

var effectColumns = []columnOf[axisChange]{
	textColumn(document.Column{Key: "axis", Name: "axis", Identifies: true}, func(c axisChange) string { return c.axis }),
	textColumn(document.Column{Key: "from", Name: "from", Identifies: true}, func(c axisChange) string { return c.from }),
	textColumn(document.Column{Key: "to", Name: "to", Identifies: true}, func(c axisChange) string { return c.to }),
	cellColumn(document.Column{Key: "change", Name: "change", Unit: unit.Factor, Spread: true},
		func(c axisChange) document.Cell { return c.ratio.Cell() }),
	numberColumn(document.Column{Key: "combinations", Name: "combinations", Unit: unit.Count},
		func(c axisChange) int { return c.ratio.N }),
}

// verdict names the best settings, how much they gain, and how sure that is.
func (s sweep) verdict() document.Verdict {
	v := document.Verdict{About: "Recommendation, " + s.title}
	if len(s.ranked) == 0 {
		v.Finding = fmt.Sprintf("None of the %d points that were measured keeps its objectives.", len(s.missed))
		return v
	}
	if s.allZero() {
		v.Finding = fmt.Sprintf("None of the %d points that were measured has a %s above %s.",
			len(s.ranked)+len(s.missed), s.metric.Name, s.metric.Unit.Format(0))
		v.Detail = lists.Join(" ", s.failedInPart(), s.leftOut())
		return v
	}
	v.Finding = lists.Join(" ", s.bestText(), s.closeRivals())
	v.Detail = lists.Join(" ", s.failedInPart(), s.leftOut(), s.largestEffect())
	return v
}

// allZero reports whether the highest figure of all is 0: no search found a rate that passed, so none is the best.
func (s sweep) allZero() bool {
	isAboveZero := func(p results.Point) bool { return s.metric.Over(p.Ok()).Median > 0 }
	return s.metric.Better == results.Higher && !slices.ContainsFunc(slices.Concat(s.ranked, s.missed), isAboveZero)
}

// bestText names the best point and its gain: "Of 8 points linger.ms=0 is the best by e2e p99: 12.9 ms,
// 0.80× the median of all."
func (s sweep) bestText() string {
	withFigure := slices.Concat(s.ranked, s.missed) // also those that can't be recommended
	medians := lists.Map(withFigure, func(p results.Point) float64 { return s.metric.Over(p.Ok()).Median })
	best, middle := medians[0], results.Summarize(medians).Median
	text := fmt.Sprintf("Of %d points %s is the best by %s: %s",
		len(s.points), s.settings(s.ranked[0]), s.metric.Name, s.metric.Unit.Format(best))
	hasRatio := best > 0 && middle > 0
	if len(medians) > 2 && hasRatio {
		text += fmt.Sprintf(", %s the median of all", unit.Factor.Format(best/middle))
	}
	return text + "."
}

// closeRivals counts the next best points that aren't shown to be behind the best. It is empty if all are.
// Only the best few are tested. Choosing them first makes no false difference more likely, because the chosen are
// close to each other.
func (s sweep) closeRivals() string {
	contenders := lists.Map(s.best(), func(p results.Point) results.Contender {
		return results.NewContender(s.settings(p), s.metric, p.Ok())
	})
	ranking := results.Rank(s.metric, contenders)
	if rivals := len(ranking.Rest) - len(ranking.Behind()); rivals > 0 {
		return fmt.Sprintf("Of the next best %d, %d may be as good.", len(ranking.Rest), rivals)
	}
	return ""
}

// failedInPart names those of the best points of which repetitions failed: "Failed in part: linger.ms=5 (failed 1 of 3)." It is empty if
// there are none.
func (s sweep) failedInPart() string {
	inPart := lists.Map(lists.Filter(s.best(), failedInPart), func(p results.Point) string {
		return fmt.Sprintf("%s (%s)", s.settings(p), p.Endings()[0])
	})
	return listSentence("Failed in part: ", inPart, ", ")
}

// leftOut counts the points that the verdict leaves out: "Not considered: 2 that miss an objective, 3
// without a usable figure (1 failed, 2 void)." It is empty if there are none.
func (s sweep) leftOut() string {
	var parts []string
	if len(s.missed) > 0 {
		parts = append(parts, fmt.Sprintf("%d that miss an objective", len(s.missed)))
	}
	withoutFigure, withoutMetric, counts := 0, 0, map[results.Status]int{}
	for _, p := range s.points {
		switch {
		case len(s.metric.Values(p.Ok())) > 0:
		case len(p.Ok()) > 0:
			withoutMetric++
		default:
			withoutFigure++
			counts[worstStatus(p)]++
		}
	}
	if withoutFigure > 0 {
		parts = append(parts, fmt.Sprintf("%d without a usable figure (%s)", withoutFigure, statusCounts(counts)))
	}
	if withoutMetric > 0 {
		parts = append(parts, fmt.Sprintf("%d without a known %s", withoutMetric, s.metric.Name))
	}
	return listSentence("Not considered: ", parts, ", ")
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

// largestEffect says which axis changed the metric most. It is empty if no values of an axis can be
// compared.
func (s sweep) largestEffect() string {
	const littleChange = 0.01 // natural logarithm of a ratio: about 1 %
	effects := results.Effects(s.points, s.metric)
	if len(effects) == 0 {
		return ""
	}
	largest := effects[0] // they are sorted by size
	value := largest.Largest()
	ratio := largest.Changes[value]
	switch {
	case ratio.N == 0:
		return ""
	case math.Abs(math.Log(ratio.Median)) < littleChange:
		return "No axis changed it by more than 1 %."
	}
	return fmt.Sprintf("%s had the largest effect: with %s instead of %s %s was %s (%s, not tested).",
		largest.Axis, largest.Values[value], largest.Values[largest.Usual], s.metric.Name, factorText(ratio), unit.Counted(ratio.N, "pair"))
}

// factorText is a change of an axis, with its interval if it is of several combinations: "1.50× [1.40–1.60×]".
func factorText(change results.Summary) string {
	if change.N == 1 {
		return unit.Factor.Format(change.Median)
	}
	return withInterval(change.Median, change.Low, change.High)
}

// withInterval is a factor with its interval: "1.24× [1.20–1.31×]".
func withInterval(factor, low, high float64) string {
	return fmt.Sprintf("%s [%s]", unit.Factor.Format(factor), unit.Factor.Range(low, high))
}
