// Drawings of documents: the exhibits of publications, with published and measured figures over each other. What has a line of its own,
// such as a broker, has a colour, and each side a style: dashed with rings for published figures, solid with dots for those of now.

package figure

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

const (
	drawingPanel  = 6.5 * vg.Centimeter // height of a panel with its words
	withoutSides  = 12 * vg.Centimeter  // width of a figure without sides, which is also read on small screens
	drawingLabels = 6                   // on an axis
	wideRange     = 50                  // highest to lowest value from which on an axis is logarithmic
	besideSide    = 0.04                // between the marks of two sides at one name, as a share of the axis
	besideLines   = 0.7                 // what the marks of all lines take at one name, as a share of the way to the next name
)

// sideStyles are the dashes and glyphs of the styles of sides.
var sideStyles = map[document.Style]struct {
	dashes []vg.Length
	shape  draw.GlyphDrawer
}{
	document.Dashed: {dashed, draw.RingGlyph{}}, document.Dotted: {dotted, draw.PyramidGlyph{}}, document.Solid: {nil, draw.CircleGlyph{}},
}

// Draw makes the figure of a drawing. The error is an *ErrNothing if it has nothing to show, or more than fits.
func Draw(d document.Drawing, o Options) (Figure, error) {
	isEmpty := func(p document.DrawingPanel) bool { return len(p.Marks) == 0 }
	shown := slices.DeleteFunc(slices.Clone(d.Panels), isEmpty)
	if len(shown) == 0 {
		return Figure{}, nothing("%s: neither published nor measured figures are known", d.Name)
	}
	if err := cmp.Or(tooMany(len(shown), maxPanels, "panels"), tooMany(len(d.Lines), maxLines, "lines")); err != nil {
		return Figure{}, err
	}
	if d.Sides == nil {
		o.Width = cmp.Or(o.Width, withoutSides)
	}
	columns := min(len(shown), 2)
	allPanels := cmp.Or(o.Width, figureWidth) - 2*figureMargin - panelGapX*vg.Length(columns-1) // their width together
	width := max(allPanels/vg.Length(columns)-besideData, leastData)
	panels := lists.Map(shown, func(p document.DrawingPanel) *Panel { return drawnPanel(d, p, o, width) })
	f := ofPanels(d.Title, panels, columns, drawingPanel)
	f.Subtitle, f.Legend, f.Notes = d.Subtitle, drawingLegend(d), d.Notes
	return f.finished(o), nil
}

// drawingLegend names lines by their colours, sides by their styles, and bounds.
func drawingLegend(d document.Drawing) []Entry {
	entries := nameEntries(d.Lines)
	if d.Sides != nil {
		for i := range entries {
			entries[i].Glyph = nil
		}
	}
	for i, side := range d.Sides {
		t := sideTrace(d, 0, i)
		if d.Lines != nil {
			t.line.Color, t.glyph.Color = soft, soft
		}
		e := lineEntry(side.Name, t.line)
		e.Glyph = &t.glyph
		entries = append(entries, e)
	}
	return append(entries, boundEntries(lists.AddNew(nil, lists.Flat(d.Panels, drawnBounds)...))...)
}

// drawnBounds has the bound of a panel, if there is one.
func drawnBounds(p document.DrawingPanel) []bound {
	if p.Up.Bound == 0 {
		return nil
	}
	return []bound{{y: p.Up.Bound, objective: p.Up.Name + " <= " + tickLabel(p.Up.Bound, p.Up.Unit)}}
}

// sideTrace returns the trace of a line on a side, without marks.
func sideTrace(d document.Drawing, of, side int) trace {
	if d.Sides == nil {
		return trace{line: line(colourOf(of)), glyph: glyph(of)}
	}
	if d.Lines == nil {
		of = side
	}
	style := sideStyles[d.Sides[side].Style]
	return trace{
		line:  lineDashed(colourOf(of), style.dashes),
		glyph: draw.GlyphStyle{Color: colourOf(of), Radius: glyphRadius, Shape: style.shape},
	}
}

// drawnPanel draws the marks of a panel, whose data are about width wide.
func drawnPanel(d document.Drawing, p document.DrawingPanel, o Options, width vg.Length) *Panel {
	panel := newPanel(results.Capital(p.Up.Name), p.Across.Name, "")
	e := newExtent(linear)
	e.addMarks(lists.Map(p.Marks, func(m document.DrawingMark) mark { return drawnMark(m.X, m.Y) }))
	panel.addBounds(drawnBounds(p))
	e.addBounds(drawnBounds(p))
	x, y := e.x, e.y
	x.scaling, y.scaling = scalingOf(x.low, x.high, o), scalingOf(y.low, y.high, o)
	setAxis(&panel.Plot.Y, y, p.Up.Unit, drawingLabels)
	place := func(m document.DrawingMark) float64 { return m.X }
	if p.Across.Values == nil {
		setAxis(&panel.Plot.X, x, p.Across.Unit, drawingLabels)
	} else {
		place = setValues(&panel.Plot.X, p.Across, d, o, width)
	}
	for l := range max(1, len(d.Lines)) {
		for side := range max(1, len(d.Sides)) {
			t := sideTrace(d, l, side)
			t.apart = p.Across.Values != nil && p.Across.Numbers == nil // there is nothing between names, such as those of brokers
			ofTrace := lists.Filter(p.Marks, func(m document.DrawingMark) bool { return m.Line == l && m.Side == side })
			t.marks = lists.Map(ofTrace, func(m document.DrawingMark) mark { return drawnMark(place(m), m.Y) })
			panel.addTrace(t)
		}
	}
	return panel
}

func drawnMark(x float64, y document.Cell) mark {
	m := exactMark(x, y.Number, !y.Unused)
	if y.Kind == document.Interval {
		m.low, m.high = y.Low, y.High
	}
	return m
}

// scalingOf is logarithmic for values that would crowd at the end of a linear axis.
func scalingOf(low, high float64, o Options) scaling {
	if low > 0 && high/low >= wideRange {
		return o.scaling()
	}
	return linear
}

// setValues makes an axis with a tick at each of its values, and returns where marks stand on it. At a name, the marks of several sides
// stand beside each other, and those of lines without sides.
func setValues(a *plot.Axis, across document.DrawingAxis, d document.Drawing, o Options, width vg.Length) (place func(document.DrawingMark) float64) {
	last := len(across.Values) - 1
	value := func(int) float64 { return 0 }
	if last == 0 {
		a.Min, a.Max = -0.5, 0.5
		a.Tick.Marker = nameTicks(across.Values)
	} else {
		scale := linear
		if across.Numbers != nil {
			scale = scalingOf(across.Numbers[0], across.Numbers[last], o)
		}
		along := trellis{
			along:     results.Axis{Name: across.Name, Values: across.Values, Numbers: across.Numbers},
			evenSteps: !haveOwnPlaces(across.Numbers, scale),
		}
		along.setAlong(a, scale, width)
		value = along.x
	}
	switch {
	case across.Numbers != nil:
		return func(m document.DrawingMark) float64 { return value(int(m.X)) }
	case d.Sides != nil:
		step := besideSide * float64(max(1, last))
		return func(m document.DrawingMark) float64 { return value(int(m.X)) + beside(m.Side, len(d.Sides), step) }
	}
	a.Min, a.Max = -0.5, float64(last)+0.5
	step := besideLines / float64(len(d.Lines))
	return func(m document.DrawingMark) float64 { return value(int(m.X)) + beside(m.Line, len(d.Lines), step) }
}

// beside returns how far the i-th of n marks stands from the middle of all, which are a step from each other.
func beside(i, n int, step float64) float64 { return (float64(i) - float64(n-1)/2) * step }
