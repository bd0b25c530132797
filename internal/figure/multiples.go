package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
)

// multiples draws one metric along an axis: a panel for each combination of the values of the other axes, and in it a
// line for each value of the row axis. Axes are those of the HTML report's sweeps. All panels have the same scales.
func multiples(points []results.Point, o Options) (Figure, error) {
	metric, err := metricOf(points, o)
	if err != nil {
		return Figure{}, err
	}
	m := mesh{metric: metric, linear: o.Linear}
	if err := m.lay(points, o); err != nil {
		return Figure{}, err
	}
	m.bounds = boundsOf(points, func(other results.Metric) bool { return other.Key == metric.Key })
	f := Figure{Title: fmt.Sprintf("%s by %s", capital(metric.Name), m.along.Name), Width: 18 * vg.Centimeter}
	f.Panels = grid(m.panels(), m.columns())
	f.Height = 2.6*vg.Centimeter + vg.Length(len(f.Panels))*6.5*vg.Centimeter
	for i, name := range m.lineNames {
		l, g := line(colourOf(i)), glyph(i, colourOf(i))
		if len(m.lineNames) > 1 || name != "" {
			f.Legend = append(f.Legend, Entry{Text: name, Line: &l, Glyph: &g})
		}
	}
	f.Legend = append(f.Legend, boundsLegend(m.bounds)...)
	if slices.ContainsFunc(m.dots, func(d dot) bool { return !d.mark.used }) {
		f.Legend = append(f.Legend, voidEntry())
	}
	f.Notes = []string{"Medians over repetitions; uprights are their intervals."}
	if len(m.panelTitles) > 1 {
		f.Notes[0] += " Panels: " + listed(m.panelAxes()) + "; all have the same scales."
	}
	if len(m.missing) > 0 {
		f.Notes = append(f.Notes, "Without a figure: "+strings.Join(results.Shorten(m.missing), "; ")+".")
	}
	return f, nil
}

// columns is how many panels stand beside each other, so that their titles can be read.
func (m *mesh) columns() int {
	width := vg.Length(0)
	for _, t := range m.panelTitles {
		width = max(width, bold(bodySize+1).Width(t))
	}
	if len(m.panelTitles) == 4 || width > 5*vg.Centimeter {
		return 2
	}
	return 3
}

// x is where the i-th value of the axis stands.
func (m *mesh) x(i int) float64 {
	if m.evenSteps {
		return float64(i)
	}
	return m.along.Numbers[i]
}

// panels draws a panel for each title, all with the same scales.
func (m *mesh) panels() []*Panel {
	e := noExtent()
	for _, d := range m.dots {
		e.take([]mark{d.mark}, !m.linearMetric)
	}
	e.include(m.bounds, !m.linearMetric)
	var panels []*Panel
	for _, title := range m.panelTitles {
		p := panel(title, m.along.Name, m.metric.Name)
		m.scale(p, e)
		for i, name := range m.lineNames {
			for _, marks := range m.stretches(title, name) {
				p.Add(trace{marks: marks, line: line(colourOf(i)), glyph: glyph(i, colourOf(i))})
			}
		}
		for _, b := range m.bounds {
			p.Add(b)
		}
		panels = append(panels, p)
	}
	return panels
}

// stretches are the dots of a line in a panel, from left to right, divided into those that the line joins: all of them, or each alone if
// the axis has names, such as brokers, between which there is nothing.
func (m *mesh) stretches(panel, line string) [][]mark {
	var marks []mark
	for _, d := range m.dots {
		if d.panel == panel && d.line == line {
			marks = append(marks, d.mark)
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.x, b.x) })
	if m.along.Numbers != nil && len(marks) > 0 {
		return [][]mark{marks}
	}
	return slices.Collect(slices.Chunk(marks, 1))
}

// axisMargin is the room on either side of the values along the axis, as a share of their range.
const axisMargin = 0.06

// scale sets the axes of a panel: the metric's to its range in all panels, the other one to the values along it.
func (m *mesh) scale(p *Panel, e extent) {
	if m.linearMetric {
		linearAxis(&p.Plot.Y, m.metric.Unit, e.low, e.high, 5)
	} else {
		logAxis(&p.Plot.Y, m.metric.Unit, e.low, e.high, 6)
	}
	x := &p.Plot.X
	low, high := m.x(0), m.x(len(m.along.Values)-1)
	if m.evenSteps || m.linear {
		room := axisMargin * (high - low)
		x.Min, x.Max = low-room, high+room
		x.Tick.Marker = plot.ConstantTicks(m.ticks(func(v float64) float64 { return (v - low) / (high - low) }))
		return
	}
	room := math.Pow(high/low, axisMargin)
	x.Scale = plot.LogScale{}
	x.Min, x.Max = low/room, high*room
	x.Tick.Marker = plot.ConstantTicks(m.ticks(func(v float64) float64 { return math.Log(v/low) / math.Log(high/low) }))
}

// ticks are at the values themselves, with a label if the one before leaves room for it. share is how far along the axis a value is.
func (m *mesh) ticks(share func(v float64) float64) []plot.Tick {
	const gap = 0.02 // between labels, as a share of the axis
	style := letters(smallSize, ink)
	var ticks []plot.Tick
	end := math.Inf(-1) // of the label before
	for i, text := range m.along.Values {
		t := plot.Tick{Value: m.x(i)}
		at, half := share(t.Value), float64(style.Width(text)/panelWidth)/2
		if at-half > end {
			t.Label, end = text, at+half+gap
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// panelWidth is about the width of a panel's data if three panels stand beside each other.
const panelWidth = 4.4 * vg.Centimeter
