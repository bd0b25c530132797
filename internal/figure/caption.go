// The texts of a figure that say what was measured and how far to trust it: figures are shown without the report and its footnotes.

package figure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

const noBreakSpace = "\u00a0"

// subtitle names versions, machines and the number of repetitions, "kafka 4.1.0, nats 2.12.1 · 3 subscriptions · Xeon, 8 cores ·
// n = 3 to 5", and what all points ask for that is no default. drawsOne: the figure shows one repetition of each point.
func subtitle(points []results.Point, drawsOne bool) string {
	var versions, machines []string
	for _, p := range points {
		for _, r := range p.Shown() {
			versions = lists.AddNew(versions, strings.TrimSpace(r.Spec.Broker+" "+r.Versions.Broker))
			machines = lists.AddNew(machines, machineOf(r))
		}
	}
	slices.Sort(versions)
	count := repetitionCount(points)
	if drawsOne {
		count = "n = 1"
	}
	return lists.Join(" · ", lists.Join(", ", versions...), strings.Join(results.AskedByAll(points), ", "), lists.Join(" and ", machines...),
		strings.ReplaceAll(count, " ", noBreakSpace))
}

// repetitionCount returns how many repetitions of each point are shown: "n = 3", or "n = 3 to 5" if points differ. The result
// is empty if none is.
func repetitionCount(points []results.Point) string {
	counts := lists.Map(points, func(p results.Point) int { return len(p.Shown()) })
	counts = lists.Filter(counts, func(n int) bool { return n > 0 })
	if counts == nil {
		return ""
	}
	least, most := slices.Min(counts), slices.Max(counts)
	if least == most {
		return fmt.Sprintf("n = %d", least)
	}
	return fmt.Sprintf("n = %d to %d", least, most)
}

// machineOf describes the machine of a record: "Xeon, 8 cores". It is empty if that isn't known.
func machineOf(r store.Record) string {
	cores := ""
	if r.Host.Cores > 0 {
		cores = fmt.Sprintf("%d cores", r.Host.Cores)
	}
	return lists.Join(", ", strings.TrimSpace(r.Host.CPU), cores)
}

// withoutFigure returns a note that names the loads which a figure of latencies doesn't draw, and why: "Without a figure:
// nats, rate 1k/s (refused); pulsar, peak (closed loop)." It has no elements if everything is drawn. isDrawn reports
// whether a load is drawn.
func withoutFigure(points []results.Point, isDrawn func(results.LoadPoint) bool) []string {
	isAlone := len(results.BySetting(points)) == 1
	var missing []string
	add := func(p results.Point, load, why string) {
		setting := p.Setting()
		if isAlone {
			setting = ""
		}
		missing = lists.AddNew(missing, fmt.Sprintf("%s (%s)", lists.Join(", ", p.Name, setting, load), why))
	}
	for _, p := range points {
		loads := p.MeasuredLoads()
		if len(loads) == 0 {
			add(p, p.Load(), wordFor(p))
		}
		for _, l := range loads {
			switch {
			case isDrawn(l):
			case !l.Used():
				add(p, l.RowTitle, string(l.Status))
			case l.Closed:
				add(p, l.RowTitle, "closed loop")
			default:
				add(p, l.RowTitle, "not known")
			}
		}
	}
	if missing == nil {
		return nil
	}
	slices.SortFunc(missing, results.CompareNames)
	return []string{"Without a figure: " + strings.Join(results.Shorten(missing), "; ") + "."}
}

// The metric that a figure shows, and how it is summed up over repetitions.

// selectMetric returns the metric that the options ask for, or else the one that the first point was measured for. The
// points are those of the kinds of measurement of which any point has the metric: among them, those without it failed.
func selectMetric(points []results.Point, o Options) (results.Metric, []results.Point, error) {
	measure := points[0].Spec.Measure // Build draws nothing of no points
	metric, hasHeadline := results.HeadlineOf(points)
	switch {
	case o.Metric != "":
		var err error
		if metric, err = results.MetricByKey(o.Metric); err != nil {
			return results.Metric{}, nil, err
		}
	case !hasHeadline:
		return results.Metric{}, nil, nothing("no metric is known for the measure %q: choose one with --metric", measure)
	}
	hasMetric := map[string]bool{} // by the kind of measurement
	for _, p := range points {
		if len(metric.Values(p.Shown())) > 0 {
			hasMetric[p.Spec.Measure] = true
		}
	}
	if len(hasMetric) == 0 {
		return results.Metric{}, nil, nothing("none of the records holds the metric %s", metric.Key)
	}
	measured := lists.Filter(points, func(p results.Point) bool { return hasMetric[p.Spec.Measure] })
	return metric, measured, nil
}

// overRepetitions returns how results.LoadPoint.Over sums up a metric.
func overRepetitions(m results.Metric) string {
	if m.Counts() {
		return "Sums over repetitions that ended ok or failed"
	}
	return "Medians over repetitions"
}
