// The metric that a figure shows, and how it is summed up over repetitions.

package figure

import (
	"slices"

	"github.com/brokermark/brokermark/internal/results"
)

// selectMetric is the metric that the options ask for, or else the one that the first point was measured for. The points
// are those of the kinds of measurement of which any point has the metric: among them, those without it failed.
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
	measured := slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return !hasMetric[p.Spec.Measure] })
	return metric, measured, nil
}

// overRepetitions says how results.LoadPoint.Over sums up a metric.
func overRepetitions(m results.Metric) string {
	if m.Counts() {
		return "Sums over repetitions that ended ok or failed"
	}
	return "Medians over repetitions"
}
