package figure

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// latencyPanel is the height of a panel of latencies with its words.
const latencyPanel = 8 * vg.Centimeter

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
	points = slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return p.Spec.Measure != "curve" && p.Spec.Measure != "rate" })
	groups := results.BySetting(points)
	if err := tooMany(len(groups), maxPanels, "sizes and guarantees"); err != nil {
		return Figure{}, err
	}
	isDrawn := func(m results.Metric) bool { return m.Histogram == kind.Name }
	d := throughputFigure{kind: kind, names: results.Names(points), linear: o.Linear}
	var panels []*Panel
	for _, group := range groups {
		if p := d.panel(group, boundsOf(group.Members, isDrawn)); p != nil {
			panels = append(panels, p)
		}
	}
	if panels == nil {
		return Figure{}, nothing("none of the records holds a latency at a given rate (measure curve or rate)")
	}
	f := ofPanels("Latency against throughput", panels, 2, latencyPanel)
	f.Legend = nameEntries(d.names)
	for _, quantile := range drawnQuantiles {
		f.Legend = append(f.Legend, lineEntry(quantile.name, lineDashed(soft, quantile.dashes)))
	}
	f.Legend = append(f.Legend, boundEntries(boundsOf(points, isDrawn))...)
	if d.showsUnused {
		f.Legend = append(f.Legend, unusedEntry())
	}
	f.Notes = []string{"Medians over repetitions; uprights are their intervals. " + latencyNote(kind)}
	return f, nil
}

// throughputFigure is what the panels of latency against throughput share.
type throughputFigure struct {
	kind        results.LatencyKind
	names       []string // of brokers, in the order of their colours
	linear      bool
	showsUnused bool // whether a panel so far shows a load that isn't used
}

// panel draws the points of one size and guarantee. It is nil if none has a latency at a rate.
func (d *throughputFigure) panel(group results.Group[results.Point], bounds []bound) *Panel {
	p := newPanel(group.Name, "throughput (messages/s, confirmed)", d.kind.Text)
	e := newExtent(d.linear)
	for i, name := range d.names {
		for _, quantile := range drawnQuantiles {
			marks := throughputMarks(group.Members, name, d.kind.Quantile(quantile.q))
			d.showsUnused = d.showsUnused || slices.ContainsFunc(marks, func(m mark) bool { return !m.used })
			e.addMarks(marks)
			p.Add(trace{marks: marks, line: lineDashed(colourOf(i), quantile.dashes), glyph: glyph(i)})
		}
	}
	if e.empty() {
		return nil
	}
	e.addBounds(bounds)
	for _, b := range bounds {
		p.Add(b)
	}
	setScale(&p.Plot.X, d.linear, unit.PerSecond, e.x.low, e.x.high, 6)
	setScale(&p.Plot.Y, d.linear, unit.Nanoseconds, e.y.low, e.y.high, 9)
	return p
}

// throughputMarks are a broker's marks in one panel, by rising rate: a quantile of latency against the rate that was confirmed. Loads
// without either have none.
func throughputMarks(points []results.Point, name string, latency results.Metric) []mark {
	rate := results.MustMetric(results.KeyPublishRate)
	var marks []mark
	for _, p := range points {
		if p.Name != name {
			continue
		}
		for _, l := range p.MeasuredLoads() {
			x, y := rate.Over(l.Records), latency.Over(l.Records)
			if x.Median > 0 && y.N > 0 {
				marks = append(marks, mark{x: x.Median, y: y.Median, low: y.Low, high: y.High, used: l.Used()})
			}
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	return marks
}

// latencyNote says from when a kind of latency is counted.
func latencyNote(k results.LatencyKind) string {
	if k.Name == "e2e" {
		return "Latency is counted from the time a message was due, so a stall is charged to all who waited in it."
	}
	return "Latency: " + k.Text + "."
}
