package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Entry is an entry of the legend: a text behind a sample of the line, glyph or colour that it names.
type Entry struct {
	Text  string
	Line  *draw.LineStyle
	Glyph *draw.GlyphStyle
	Fill  color.Color
}

// Lengths of a legend, in points.
const (
	sampleWidth  vg.Length = 20
	sampleHeight vg.Length = 7 // of a filled sample
	sampleGap    vg.Length = 5 // between a sample and its text
	entryGap     vg.Length = 16
	entryHeight  vg.Length = 13
)

func lineEntry(text string, style draw.LineStyle) Entry { return Entry{Text: text, Line: &style} }

// nameEntries have a line and a glyph for each name, in the order of the colours.
func nameEntries(names []string) []Entry {
	var entries []Entry
	for i, name := range names {
		e, g := lineEntry(name, line(colourOf(i))), glyph(i)
		e.Glyph = &g
		entries = append(entries, e)
	}
	return entries
}

// unusedEntry explains the crosses of points that aren't used.
func unusedEntry() Entry {
	g := crossGlyph(unused)
	return Entry{Text: "void or failed: not used", Glyph: &g}
}

// legendLayout arranges entries in columns of equal width.
type legendLayout struct {
	columns, rows int
	textWidth     vg.Length // of the longest text that fits
}

func layLegend(entries []Entry, width vg.Length) legendLayout {
	var l legendLayout
	for _, e := range entries {
		l.textWidth = max(l.textWidth, letters(bodySize, ink).Width(e.Text))
	}
	l.textWidth = min(l.textWidth, width-sampleWidth-sampleGap)
	l.columns = max(1, int((width+entryGap)/l.columnWidth())) // the last one needs no gap
	l.rows = (len(entries) + l.columns - 1) / l.columns
	return l
}

func (l legendLayout) columnWidth() vg.Length {
	return sampleWidth + sampleGap + l.textWidth + entryGap
}

// usualLegendRows is the number of rows for which every figure has room.
const usualLegendRows = 2

// extraLegendHeight returns the height that a legend needs beyond the usual rows.
func extraLegendHeight(entries []Entry, width vg.Length) vg.Length {
	return vg.Length(max(0, layLegend(entries, width).rows-usualLegendRows)) * entryHeight
}

// drawLegend draws the entries at the top of c, row by row, and returns the rest of c.
func drawLegend(c draw.Canvas, entries []Entry) draw.Canvas {
	layout := layLegend(entries, c.Size().X)
	style := letters(bodySize, ink)
	for i, e := range entries {
		row, column := i/layout.columns, i%layout.columns
		left := c.Min.X + vg.Length(column)*layout.columnWidth()
		middle := c.Max.Y - (vg.Length(row)+0.5)*entryHeight
		e.drawSample(c, left, middle)
		fillBeside(c, style, vg.Point{X: left + sampleWidth + sampleGap, Y: middle}, cut(style, e.Text, layout.textWidth))
	}
	return withoutTop(c, vg.Length(layout.rows)*entryHeight)
}

func (e Entry) drawSample(c draw.Canvas, left, middle vg.Length) {
	right := left + sampleWidth
	if e.Fill != nil {
		c.FillPolygon(e.Fill, corners(box(left, right, middle-sampleHeight/2, middle+sampleHeight/2)))
	}
	if e.Line != nil {
		c.StrokeLine2(*e.Line, left, middle, right, middle)
	}
	if e.Glyph != nil {
		c.DrawGlyphNoClip(*e.Glyph, vg.Point{X: (left + right) / 2, Y: middle})
	}
}
