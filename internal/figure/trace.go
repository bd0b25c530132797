package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mark is one measured point. One whose y is NaN is a gap: nothing was measured there. One without a place on a logarithmic axis is a
// gap as well.
type mark struct {
	x, y, low, high float64 // low..high: the interval of y; equal to y if there is none
	used            bool    // false: void or failed; shown, never joined with others
}

// trace draws marks in their order: a line through neighbours that are both used, glyphs, intervals, and crosses for
// the rest.
type trace struct {
	marks []mark
	line  draw.LineStyle
	glyph draw.GlyphStyle // without a shape: no glyphs
}

// runs are the stretches of neighbouring used marks.
func (t trace) runs() [][]mark {
	var runs [][]mark
	open := false
	for _, m := range t.marks {
		switch {
		case !m.used, math.IsNaN(m.y):
			open = false
		case open:
			runs[len(runs)-1] = append(runs[len(runs)-1], m)
		default:
			runs, open = append(runs, []mark{m}), true
		}
	}
	return runs
}

func (t trace) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	t.marks = slices.Clone(t.marks)
	for i, m := range t.marks {
		if !hasPlace(p.X, m.x) || !hasPlace(p.Y, m.y) {
			t.marks[i] = mark{x: math.NaN(), y: math.NaN()}
		}
	}
	for _, run := range t.runs() {
		var path []vg.Point
		for _, m := range run {
			path = append(path, vg.Point{X: x(m.x), Y: y(m.y)})
		}
		if len(path) > 1 {
			c.StrokeLines(t.line, c.ClipLinesXY(path)...)
		}
	}
	for _, m := range t.marks {
		at := vg.Point{X: x(m.x), Y: y(m.y)}
		if math.IsNaN(m.y) || !c.Contains(at) {
			continue
		}
		if m.high > m.low {
			t.interval(c, at.X, y(math.Max(m.low, p.Y.Min)), y(math.Min(m.high, p.Y.Max)))
		}
		switch {
		case !m.used:
			c.DrawGlyph(voidGlyph(t.line.Color), at)
		case t.glyph.Shape != nil:
			c.DrawGlyph(t.glyph, at)
		}
	}
}

// interval is a thin upright with caps.
func (t trace) interval(c draw.Canvas, x, low, high vg.Length) {
	thin := draw.LineStyle{Color: t.line.Color, Width: vg.Points(0.8)}
	cap := vg.Points(1.8)
	c.StrokeLine2(thin, x, low, x, high)
	c.StrokeLine2(thin, x-cap, low, x+cap, low)
	c.StrokeLine2(thin, x-cap, high, x+cap, high)
}

// extent is the range of marks, their intervals included.
type extent struct {
	xlow, xhigh float64 // of x; xlow > xhigh if there is no mark
	low, high   float64 // of y; low > high if there is no mark
}

// noExtent is the range of no marks.
func noExtent() extent {
	return extent{xlow: math.Inf(1), xhigh: math.Inf(-1), low: math.Inf(1), high: math.Inf(-1)}
}

// take widens e by marks; positive leaves out values that have no place on a logarithmic axis.
func (e *extent) take(marks []mark, positive bool) {
	for _, m := range marks {
		for _, v := range []float64{m.y, m.low, m.high} {
			if !math.IsNaN(v) && (!positive || v > 0) {
				e.low, e.high = math.Min(e.low, v), math.Max(e.high, v)
			}
		}
		if !positive || m.x > 0 {
			e.xlow, e.xhigh = math.Min(e.xlow, m.x), math.Max(e.xhigh, m.x)
		}
	}
}

// band shades a stretch of the x axis.
type band struct {
	from, to float64
	colour   color.Color
}

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	from, to := x(math.Max(b.from, p.X.Min)), x(math.Min(b.to, p.X.Max))
	if to <= from {
		return
	}
	c.FillPolygon(b.colour, []vg.Point{{X: from, Y: c.Min.Y}, {X: to, Y: c.Min.Y}, {X: to, Y: c.Max.Y}, {X: from, Y: c.Max.Y}})
}

// upright is a vertical line with a word at its top.
type upright struct {
	at     float64
	text   string
	colour color.Color
	lower  int // how many lines further down, so that words don't collide
}

func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	at := x(u.at)
	if !c.ContainsX(at) {
		return
	}
	c.StrokeLine2(draw.LineStyle{Color: u.colour, Width: vg.Points(0.8), Dashes: []vg.Length{vg.Points(2), vg.Points(2)}}, at, c.Min.Y, at, c.Max.Y)
	if u.text == "" {
		return
	}
	style := letters(smallSize, u.colour)
	style.YAlign = draw.YTop
	left := at + vg.Points(2)
	if left+style.Width(u.text) > c.Max.X {
		left = at - vg.Points(2) - style.Width(u.text)
	}
	c.FillText(style, vg.Point{X: left, Y: c.Max.Y - vg.Points(1) - vg.Length(u.lower)*style.FontExtents().Height}, u.text)
}
