// The figure "multiples": one metric along an axis, in several panels with the same scales. For e2e p99 along the window
// (1, 10 and 100 messages), with a line for each broker, there is a panel for 100 B and one for 1 KiB. A trellis says where
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

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// Lengths of small multiples.
const (
	multiplePanel = 6.5 * vg.Centimeter // height of a panel with its words
	longTitle     = 5 * vg.Centimeter   // of a panel, beyond which only two panels stand beside each other
	besideData    = 1 * vg.Centimeter   // about the width of the labels beside a panel's data
)

// multiples draws one metric along an axis: a panel for each combination of the values of the other axes, and in it a
// line for each value of the row axis. Axes are those of the HTML report's sweeps. All panels have the same scales.
func multiples(points []results.Point, o Options) (Figure, error) {
	metric, points, err := selectMetric(points, o)
	if err != nil {
		return Figure{}, err
	}
	m, err := newTrellis(points, metric, o)
	if err != nil {
		return Figure{}, err
	}
	bounds := boundsOf(points, func(other results.Metric) bool { return other.Key == metric.Key })
	title := fmt.Sprintf("%s by %s", results.Capital(metric.Name), m.along.Name)
	columns := m.columns()
	allPanels := cmp.Or(o.Width, figureWidth) - 2*figureMargin - panelGapX*vg.Length(columns-1) // their width together
	dataWidth := max(allPanels/vg.Length(columns)-besideData, leastData)
	f := ofPanels(title, m.panels(bounds, o.scaling(), dataWidth), columns, multiplePanel)
	if m.hasLineAxis {
		f.Legend = nameEntries(m.lineNames)
	}
	f.Legend = append(f.Legend, boundEntries(bounds)...)
	f.Notes = []string{m.note()}
	if len(m.missing) > 0 {
		f.Notes = append(f.Notes, "Without a figure: "+strings.Join(results.Shorten(m.missing), "; ")+".")
	}
	return f, nil
}

// note returns the sentence that explains the dots, their uprights and the panels.
func (m *trellis) note() string {
	note := overRepetitions(m.metric)
	switch {
	case m.metric.Counts():
		note += "." // a sum has no interval
	case m.metric.Key == results.KeySustainableLow:
		note += "; uprights: " + bracketWords + "."
	default:
		note += "; uprights are their intervals."
	}
	if len(m.panelTitles) > 1 {
		note += " Panels: " + listed(m.panelAxes) + "; all have the same scales."
	}
	return note
}

// columns returns how many panels fit beside each other with readable titles.
func (m *trellis) columns() int {
	isLong := func(title string) bool { return bold(panelTitleSize).Width(title) > longTitle }
	most := 3
	if len(m.panelTitles) == 4 || slices.ContainsFunc(m.panelTitles, isLong) { // four are two rows of two
		most = 2
	}
	return max(1, min(len(m.panelTitles), most))
}

// panels draws the dots. along is the scaling of the horizontal axis, which is about dataWidth long.
func (m *trellis) panels(bounds []bound, along scaling, dataWidth vg.Length) []*Panel {
	e := newExtent(m.scaling)
	e.addMarks(lists.Map(m.dots, func(d dot) mark { return d.mark }))
	e.addBounds(bounds)
	var panels []*Panel
	for _, title := range m.panelTitles {
		p := newPanel(title, m.along.Name, m.metric.Name)
		setAxis(&p.Plot.Y, e.y, m.metric.Unit, 6)
		m.setAlong(&p.Plot.X, along, dataWidth)
		for i, name := range m.lineNames {
			p.addTrace(trace{
				marks: m.marksOf(title, name), line: line(colourOf(i)), glyph: glyph(i),
				apart: m.along.Numbers == nil, // there is nothing between names, such as those of brokers
			})
		}
		p.addBounds(bounds)
		panels = append(panels, p)
	}
	return panels
}

// marksOf returns the marks of a line in a panel, from left to right.
func (m *trellis) marksOf(panel, line string) []mark {
	own := lists.Filter(m.dots, func(d dot) bool { return d.panel == panel && d.line == line })
	marks := lists.Map(own, func(d dot) mark { return d.mark })
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.x, b.x) })
	return marks
}

// setAlong makes the axis along with a tick at each of its values. Even steps are linear.
func (m *trellis) setAlong(x *plot.Axis, asked scaling, length vg.Length) {
	const room = 0.06 // on either side, as a share of the range
	low, high := m.x(0), m.x(len(m.along.Values)-1)
	isLinear := m.evenSteps || asked == linear
	if isLinear {
		x.Min, x.Max = low-room*(high-low), high+room*(high-low)
	} else {
		x.Min, x.Max = low/math.Pow(high/low, room), high*math.Pow(high/low, room)
		x.Scale = plot.LogScale{}
	}
	var ticks []plot.Tick
	var shares []float64 // how far each value is from low (0) to high (1)
	for i, label := range m.along.Values {
		v := m.x(i)
		share := (v - low) / (high - low)
		if !isLinear {
			share = math.Log(v/low) / math.Log(high/low)
		}
		ticks, shares = append(ticks, plot.Tick{Value: v, Label: label}), append(shares, share)
	}
	x.Tick.Marker = plot.ConstantTicks(withoutOverlaps(ticks, shares, length))
}

// withoutOverlaps removes labels that would touch the one before, on an axis of this length. shares say how far along the axis each tick
// stands.
func withoutOverlaps(ticks []plot.Tick, shares []float64, length vg.Length) []plot.Tick {
	const gap = 0.02 // between labels, as a share of the axis
	style := letters(smallSize, ink)
	end := math.Inf(-1) // of the label before, as a share of the axis
	for i, t := range ticks {
		half := float64(style.Width(t.Label)/length) / 2
		if shares[i]-half > end {
			end = shares[i] + half + gap
		} else {
			ticks[i].Label = ""
		}
	}
	return ticks
}
