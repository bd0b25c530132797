// The figure "latency-throughput": what latency a broker has at which rate. Each broker has two lines, its median and
// its 99th percentile, with a mark for each rate at which it was measured: at 1k/s 1.2 and 4.1 ms, at 10k/s 1.0 and 3.4
// ms.

package figure

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// Panels of latencies.
const (
	latencyPanel     = 8 * vg.Centimeter // height of a panel with its words
	maxRateLabels    = 6                 // on an axis, if it is logarithmic (see setAxis)
	maxLatencyLabels = 9
)

// drawnQuantiles are the quantiles of latency that have a line each.
var drawnQuantiles = []struct {
	name   string
	q      float64
	dashes []vg.Length // nil: a solid line
}{{name: "p50", q: 0.5}, {name: "p99", q: 0.99, dashes: dashed}}

// latencyThroughput draws a panel for each size and guarantee, and in it two lines for each broker.
func latencyThroughput(points []results.Point, o Options) (Figure, error) {
	kind, err := results.LatencyByName(o.Latency)
	if err != nil {
		return Figure{}, err
	}
	points = slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool {
		return p.Spec.Measure != study.MeasureCurve && p.Spec.Measure != study.MeasureRate
	})
	groups := results.BySetting(points)
	if err := tooMany(len(groups), maxPanels, "sizes and guarantees"); err != nil {
		return Figure{}, err
	}
	names := results.Names(points)
	isDrawn := func(m results.Metric) bool { return m.Histogram == kind.Name }
	var panels []*Panel
	for _, group := range groups {
		bounds := boundsOf(group.Members, isDrawn)
		if p, hasMarks := throughputPanel(group, names, kind, bounds, o.scaling()); hasMarks {
			panels = append(panels, p)
		}
	}
	if panels == nil {
		return Figure{}, nothing("none of the records holds a latency at a given rate (measure curve or rate)")
	}
	f := ofPanels("Latency against throughput", panels, 2, latencyPanel)
	f.Legend = nameEntries(names)
	for _, quantile := range drawnQuantiles {
		f.Legend = append(f.Legend, lineEntry(quantile.name, lineDashed(soft, quantile.dashes)))
	}
	f.Legend = append(f.Legend, boundEntries(boundsOf(points, isDrawn))...)
	f.Notes = []string{"Medians over repetitions; uprights are their intervals, with an arrow where messages that never came leave no upper bound. " + latencyNote(kind)}
	f.Notes = append(f.Notes, withoutFigure(points, func(l results.LoadPoint) bool {
		_, hasMark := throughputMark(l, kind.Quantile(drawnQuantiles[0].q))
		return hasMark
	})...)
	return f, nil
}

// throughputPanel draws the points of one size and guarantee, with the lines of each broker in names. hasMarks is false
// if none of them has a latency.
func throughputPanel(
	group results.Group[results.Point], names []string, kind results.LatencyKind, bounds []bound, axes scaling,
) (p *Panel, hasMarks bool) {
	p = newPanel(group.Name, "throughput (messages/s)", kind.Text)
	e := newExtent(axes)
	for i, name := range names {
		for _, quantile := range drawnQuantiles {
			marks := throughputMarks(group.Members, name, kind.Quantile(quantile.q))
			p.addTrace(trace{marks: marks, line: lineDashed(colourOf(i), quantile.dashes), glyph: glyph(i)})
			e.addMarks(marks)
		}
	}
	if e.y.empty() {
		return nil, false
	}
	p.addBounds(bounds)
	e.addBounds(bounds)
	setAxis(&p.Plot.X, e.x, unit.PerSecond, maxRateLabels)
	setAxis(&p.Plot.Y, e.y, unit.Nanoseconds, maxLatencyLabels)
	return p, true
}

// throughputMarks returns a broker's marks in one panel: a quantile of latency against the rate that came through. They are
// in the order of the offered rates, as a line joins them: less of a higher rate may come through an overloaded broker.
// Loads without either figure have none.
func throughputMarks(points []results.Point, name string, latency results.Metric) []mark {
	rate := results.MustMetric(results.KeyThroughput)
	ofName := lists.Filter(points, func(p results.Point) bool { return p.Name == name })
	loads := lists.Flat(ofName, results.Point.MeasuredLoads)
	slices.SortFunc(loads, func(a, b results.LoadPoint) int {
		return cmp.Or(cmp.Compare(a.Rate, b.Rate), cmp.Compare(rate.Over(a.Records).Median, rate.Over(b.Records).Median))
	})
	var marks []mark
	for _, l := range loads {
		if m, hasMark := throughputMark(l, latency); hasMark {
			marks = append(marks, m)
		}
	}
	return marks
}

// throughputMark returns the mark of one load; there is none without either figure.
func throughputMark(l results.LoadPoint, latency results.Metric) (m mark, hasMark bool) {
	x, y := results.MustMetric(results.KeyThroughput).Over(l.Records), latency.Over(l.Records)
	if x.Median > 0 && y.N > 0 {
		return summaryMark(x.Median, y, l.Used()), true
	}
	return mark{}, false
}

// latencyNote returns from when a kind of latency is counted.
func latencyNote(k results.LatencyKind) string {
	if k.Name == "e2e" {
		return "Latency is counted from the time a message was due, so a stall is charged to all who waited in it."
	}
	return "Latency: " + k.Text + "."
}
