package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mark is a measured value in a panel.
type mark struct {
	x, y      float64 // y is NaN where nothing was measured: a gap
	low, high float64 // the interval of y; both y if there is none
	used      bool    // false: void or failed; shown, but never joined with others
}

// exactMark is a mark without an interval.
func exactMark(x, y float64, used bool) mark { return mark{x: x, y: y, low: y, high: y, used: used} }

// trace draws marks in their order: a line through neighbours that are used, with their glyphs and
// intervals, and crosses for marks that aren't used. Marks without a place on the axes are gaps.
type trace struct {
	marks []mark
	line  draw.LineStyle
	glyph draw.GlyphStyle // without a shape: none are drawn
}

func (t trace) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	marks := slices.Clone(t.marks)
	for i, m := range marks {
		if !hasPlace(p.X, m.x) || !hasPlace(p.Y, m.y) {
			marks[i] = exactMark(math.NaN(), math.NaN(), false)
		}
	}
	for _, joined := range stretches(marks) {
		var path []vg.Point
		for _, m := range joined {
			path = append(path, vg.Point{X: x(m.x), Y: y(m.y)})
		}
		if len(path) > 1 {
			c.StrokeLines(t.line, c.ClipLinesXY(path)...)
		}
	}
	for _, m := range marks {
		centre := vg.Point{X: x(m.x), Y: y(m.y)}
		if math.IsNaN(m.y) || !c.Contains(centre) {
			continue
		}
		if m.high > m.low {
			t.drawInterval(c, centre.X, y(max(m.low, p.Y.Min)), y(min(m.high, p.Y.Max)))
		}
		if !m.used {
			c.DrawGlyph(crossGlyph(t.line.Color), centre)
		} else if t.glyph.Shape != nil {
			c.DrawGlyph(t.glyph, centre)
		}
	}
}

// stretches are the neighbouring marks that a line joins.
func stretches(marks []mark) [][]mark {
	var all [][]mark
	isJoined := false // the next mark with the one before
	for _, m := range marks {
		switch {
		case !m.used, math.IsNaN(m.y):
			isJoined = false
		case isJoined:
			all[len(all)-1] = append(all[len(all)-1], m)
		default:
			all, isJoined = append(all, []mark{m}), true
		}
	}
	return all
}

// drawInterval draws a thin upright line with a cap at either end.
func (t trace) drawInterval(c draw.Canvas, x, low, high vg.Length) {
	const halfCap vg.Length = 1.8
	thin := draw.LineStyle{Color: t.line.Color, Width: intervalWidth}
	c.StrokeLine2(thin, x, low, x, high)
	c.StrokeLine2(thin, x-halfCap, low, x+halfCap, low)
	c.StrokeLine2(thin, x-halfCap, high, x+halfCap, high)
}

// extent is the range of values that a panel has to show.
type extent struct {
	axes scaling // of both axes; values without a place on them are left out
	x, y span
}

func newExtent(axes scaling) extent { return extent{axes: axes, x: emptySpan(), y: emptySpan()} }

func (e extent) empty() bool { return e.y.low > e.y.high }

// addMarks widens e by marks and their intervals.
func (e *extent) addMarks(marks []mark) {
	for _, m := range marks {
		e.x.add(m.x, e.axes)
		for _, v := range []float64{m.y, m.low, m.high} {
			e.y.add(v, e.axes)
		}
	}
}

// band shades a stretch of the x axis.
type band struct{ from, to float64 }

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	from, to := x(max(b.from, p.X.Min)), x(min(b.to, p.X.Max))
	if from < to {
		c.FillPolygon(shade, corners(box(from, to, c.Min.Y, c.Max.Y)))
	}
}

// upright is a vertical line with a text at its top, if it has one.
type upright struct {
	x    float64
	text string
	row  int // lines of text to leave free above it, so that the texts of neighbours don't collide
}

func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	toCanvas, _ := p.Transforms(&c)
	x := toCanvas(u.x)
	if !c.ContainsX(x) {
		return
	}
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: intervalWidth, Dashes: broken}, x, c.Min.Y, x, c.Max.Y)
	if u.text == "" {
		return
	}
	const gap vg.Length = 2 // between the line and the text
	style := letters(smallSize, ink)
	style.YAlign = draw.YTop
	left := x + gap
	if left+style.Width(u.text) > c.Max.X {
		left = x - gap - style.Width(u.text)
	}
	top := c.Max.Y - 1 - vg.Length(u.row)*style.FontExtents().Height
	c.FillText(style, vg.Point{X: left, Y: top}, u.text)
}
