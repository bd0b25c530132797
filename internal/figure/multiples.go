// The figure "multiples": one metric along an axis, in several panels with the same scales. For e2e p99 along the window
// (1, 10 and 100 messages), with a line for each broker, there is a panel for 100 B and one for 1 KiB. A mesh says where
// each measurement stands.

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

// Lengths of small multiples.
const (
	multiplePanel = 6.5 * vg.Centimeter // height of a panel with its words
	longTitle     = 5 * vg.Centimeter   // of a panel, beyond which only two panels stand beside each other
	multipleData  = 4.4 * vg.Centimeter // about the width of a panel's data if three panels stand beside each other
)

// multiples draws one metric along an axis: a panel for each combination of the values of the other axes, and in it a
// line for each value of the row axis. Axes are those of the HTML report's sweeps. All panels have the same scales.
func multiples(points []results.Point, o Options) (Figure, error) {
	metric, points, err := selectMetric(points, o)
	if err != nil {
		return Figure{}, err
	}
	m, err := newMesh(points, metric, o)
	if err != nil {
		return Figure{}, err
	}
	bounds := boundsOf(points, func(other results.Metric) bool { return other.Key == metric.Key })
	title := fmt.Sprintf("%s by %s", capital(metric.Name), m.axes[m.along].Name)
	f := ofPanels(title, m.panels(bounds, o.scaling()), m.columns(), multiplePanel)
	if len(m.byLine) > 0 {
		f.Legend = nameEntries(m.lineNames)
	}
	f.Legend = append(f.Legend, boundEntries(bounds)...)
	f.Notes = []string{"Medians over repetitions; uprights are their intervals."}
	if len(m.panelTitles) > 1 {
		f.Notes[0] += " Panels: " + listed(m.names(m.byPanel)) + "; all have the same scales."
	}
	if len(m.missing) > 0 {
		f.Notes = append(f.Notes, "Without a figure: "+strings.Join(results.Shorten(m.missing), "; ")+".")
	}
	return f, nil
}

// columns is how many panels stand beside each other, so that their titles can be read.
func (m *mesh) columns() int {
	isLong := func(title string) bool { return bold(panelTitleSize).Width(title) > longTitle }
	if len(m.panelTitles) == 4 || slices.ContainsFunc(m.panelTitles, isLong) { // four are two rows of two
		return 2
	}
	return 3
}

func (m *mesh) panels(bounds []bound, along scaling) []*Panel {
	e := newExtent(m.metricAxis)
	for _, d := range m.dots {
		e.addMarks([]mark{d.mark})
	}
	e.addBounds(bounds)
	var panels []*Panel
	for _, title := range m.panelTitles {
		p := newPanel(title, m.axes[m.along].Name, m.metric.Name)
		setAxis(&p.Plot.Y, m.metricAxis, e.y, m.metric.Unit, 6)
		m.setAlong(&p.Plot.X, along)
		for i, name := range m.lineNames {
			for _, marks := range m.joined(title, name) {
				p.addTrace(trace{marks: marks, line: line(colourOf(i)), glyph: glyph(i)})
			}
		}
		p.addBounds(bounds)
		panels = append(panels, p)
	}
	return panels
}

// joined are the marks of a line in a panel, from left to right, divided into those that the line joins: all of them,
// or each alone if the axis has names, such as brokers, between which there is nothing.
func (m *mesh) joined(panel, line string) [][]mark {
	var marks []mark
	for _, d := range m.dots {
		if d.panel == panel && d.line == line {
			marks = append(marks, d.mark)
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.x, b.x) })
	if m.axes[m.along].Numbers != nil && len(marks) > 0 {
		return [][]mark{marks}
	}
	return slices.Collect(slices.Chunk(marks, 1))
}

// setAlong makes the axis along with a tick at each of its values. Even steps are linear.
func (m *mesh) setAlong(x *plot.Axis, asked scaling) {
	const room = 0.06 // on either side, as a share of the range
	values := m.axes[m.along].Values
	low, high := m.x(0), m.x(len(values)-1)
	var share func(v float64) float64 // how far v is from low (0) to high (1)
	if m.evenSteps || asked == linear {
		share = func(v float64) float64 { return (v - low) / (high - low) }
		x.Min, x.Max = low-room*(high-low), high+room*(high-low)
	} else {
		share = func(v float64) float64 { return math.Log(v/low) / math.Log(high/low) }
		x.Min, x.Max = low/math.Pow(high/low, room), high*math.Pow(high/low, room)
		x.Scale = plot.LogScale{}
	}
	var ticks []plot.Tick
	for i := range values {
		ticks = append(ticks, plot.Tick{Value: m.x(i), Label: values[i]})
	}
	x.Tick.Marker = plot.ConstantTicks(withoutOverlaps(ticks, share))
}

// withoutOverlaps removes labels that would touch the one before. share is how far along the axis a value stands.
func withoutOverlaps(ticks []plot.Tick, share func(v float64) float64) []plot.Tick {
	const gap = 0.02 // between labels, as a share of the axis
	style := letters(smallSize, ink)
	end := math.Inf(-1) // of the label before, as a share of the axis
	for i, t := range ticks {
		middle, half := share(t.Value), float64(style.Width(t.Label)/multipleData)/2
		if middle-half > end {
			end = middle + half + gap
		} else {
			ticks[i].Label = ""
		}
	}
	return ticks
}
