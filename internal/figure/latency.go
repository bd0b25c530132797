package figure

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// drawnQuantile is a quantile of latency with the dashes of its lines.
type drawnQuantile struct {
	name   string
	q      float64
	dashes []vg.Length // nil: a solid line
}

var drawnQuantiles = []drawnQuantile{{"p50", 0.5, nil}, {"p99", 0.99, dashed}}

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
	d := throughputDrawing{kind: kind, names: results.Names(points), options: o}
	var panels []*Panel
	for _, group := range groups {
		if p := d.panel(group.Name, group.Members); p != nil {
			panels = append(panels, p)
		}
	}
	if panels == nil {
		return Figure{}, nothing("none of the records holds a latency at a given rate (measure curve or rate)")
	}
	f := Figure{Title: "Latency against throughput", Width: 18 * vg.Centimeter, Panels: grid(panels, 2), Legend: d.legend(points)}
	f.Height = 2.6*vg.Centimeter + vg.Length(len(f.Panels))*8*vg.Centimeter
	f.Notes = []string{"Medians over repetitions; uprights are their intervals. " + kindNote(kind)}
	return f, nil
}

// throughputDrawing holds what the panels of a figure share.
type throughputDrawing struct {
	kind    results.LatencyKind
	names   []string // of brokers, in the order of their colours
	options Options
	void    bool // set by panel if it shows figures that are not used
}

// panel draws the points of one size and guarantee. It is nil if none has a latency at a rate.
func (d *throughputDrawing) panel(setting string, points []results.Point) *Panel {
	p := panel(setting, "throughput (messages/s, confirmed)", d.kind.Text)
	e := noExtent()
	for i, name := range d.names {
		for _, quantile := range drawnQuantiles {
			marks := throughputMarks(points, name, d.kind.Quantile(quantile.q))
			d.void = d.void || slices.ContainsFunc(marks, func(m mark) bool { return !m.used })
			e.take(marks, !d.options.Linear)
			p.Add(trace{marks: marks, line: lineDashed(colourOf(i), quantile.dashes), glyph: glyph(i, colourOf(i))})
		}
	}
	if e.high < e.low {
		return nil
	}
	bounds := boundsOf(points, d.drawn)
	e.include(bounds, !d.options.Linear)
	scale := d.options.scale()
	scale(&p.Plot.X, unit.PerSecond, e.xlow, e.xhigh, 6)
	scale(&p.Plot.Y, unit.Nanoseconds, e.low, e.high, 9)
	for _, b := range bounds {
		p.Add(b)
	}
	return p
}

// drawn tells whether the figure shows a metric, so that objectives for it can be drawn as lines.
func (d *throughputDrawing) drawn(m results.Metric) bool { return m.Histogram == d.kind.Name }

func (d *throughputDrawing) legend(points []results.Point) []Entry {
	entries := namesLegend(d.names)
	for _, quantile := range drawnQuantiles {
		style := lineDashed(soft, quantile.dashes)
		entries = append(entries, Entry{Text: quantile.name, Line: &style})
	}
	entries = append(entries, boundsLegend(boundsOf(points, d.drawn))...)
	if d.void {
		entries = append(entries, voidEntry())
	}
	return entries
}

// scale fits an axis to a range of values and labels it, logarithmically unless a linear one was asked for.
func (o Options) scale() func(a *plot.Axis, u unit.Unit, low, high float64, labels int) {
	if o.Linear {
		return linearAxis
	}
	return logAxis
}

func voidEntry() Entry {
	g := voidGlyph(unused)
	return Entry{Text: "void or failed: not used", Glyph: &g}
}

func kindNote(k results.LatencyKind) string {
	if k.Name == "e2e" {
		return "Latency is counted from the time a message was due, so a stall is charged to all who waited in it."
	}
	return "Latency: " + k.Text + "."
}

// throughputMarks are the marks of one broker in one panel: a latency against the rate that came through, by rising rate. Loads
// without either have none.
func throughputMarks(points []results.Point, name string, latency results.Metric) []mark {
	var marks []mark
	for _, p := range points {
		if p.Name != name {
			continue
		}
		for _, l := range p.MeasuredLoads() {
			rate, y := results.MustMetric(results.KeyPublishRate).Over(l.Records), latency.Over(l.Records)
			if rate.Median > 0 && y.N > 0 {
				marks = append(marks, mark{x: rate.Median, y: y.Median, low: y.Low, high: y.High, used: l.Used()})
			}
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	return marks
}

func namesLegend(names []string) []Entry {
	var entries []Entry
	for i, name := range names {
		l, g := line(colourOf(i)), glyph(i, colourOf(i))
		entries = append(entries, Entry{Text: name, Line: &l, Glyph: &g})
	}
	return entries
}
