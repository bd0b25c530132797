package figure

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

var shownQuantiles = [2]float64{0.5, 0.99}

// latencyThroughput draws a panel for each size and guarantee, and in it two lines for each broker.
func latencyThroughput(points []results.Point, o Options) (Figure, error) {
	kind, err := results.LatencyByName(o.Latency)
	if err != nil {
		return Figure{}, err
	}
	points = slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return p.Spec.Measure != "curve" && p.Spec.Measure != "rate" })
	settings, groups := results.PointsBySetting(points)
	if err := tooMany(len(settings), mostPanels, "sizes and guarantees"); err != nil {
		return Figure{}, err
	}
	d := throughputDrawing{kind: kind, names: results.Names(points), options: o}
	var panels []*Panel
	for _, setting := range settings {
		if p := d.panel(setting, groups[setting]); p != nil {
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

// throughputDrawing holds the common properties of a figure's panels.
type throughputDrawing struct {
	kind    results.LatencyKind
	names   []string // of brokers, in the order of their colours
	options Options
	void    bool // a panel shows figures that are not used
}

// panel draws the points of one size and guarantee. It is nil if none has a latency at a rate.
func (d *throughputDrawing) panel(setting string, points []results.Point) *Panel {
	p := panel(setting, "throughput (messages/s, confirmed)", d.kind.Text)
	e := nowhere()
	for i, name := range d.names {
		for q, marks := range throughputMarks(points, name, d.kind) {
			d.void = d.void || slices.ContainsFunc(marks, func(m mark) bool { return !m.used })
			t := trace{marks: marks, line: line(colourOf(i)), glyph: glyph(i, colourOf(i))}
			if q == 1 {
				t.line.Dashes = dashed
			}
			e.take(marks, !d.options.Linear)
			p.Add(t)
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

// drawn tells that the figure shows a metric.
func (d *throughputDrawing) drawn(m results.Metric) bool { return m.Histogram == d.kind.Name }

func (d *throughputDrawing) legend(points []results.Point) []Entry {
	p50, p99 := line(soft), lineDashed(soft, dashed)
	entries := append(namesLegend(d.names), Entry{Text: "p50", Line: &p50}, Entry{Text: "p99", Line: &p99})
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

// throughputMarks are the marks of one broker in one panel, for each of shownQuantiles, by rising rate.
func throughputMarks(points []results.Point, name string, kind results.LatencyKind) [2][]mark {
	var marks [2][]mark
	for _, p := range points {
		if p.Name != name {
			continue
		}
		for _, l := range p.MeasuredLoads() {
			rate := results.MustMetric("publish_rate").Over(l.Records)
			for k, q := range shownQuantiles {
				if y := kind.Quantile(q).Over(l.Records); rate.Median > 0 && y.N > 0 {
					marks[k] = append(marks[k], mark{rate.Median, y.Median, y.Low, y.High, l.Used()})
				}
			}
		}
	}
	for k := range marks {
		slices.SortFunc(marks[k], func(a, b mark) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	}
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
