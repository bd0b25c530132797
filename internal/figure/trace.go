// What the panels of charts of lines are drawn from: traces (lines with marks), bands (shaded stretches of time) and
// vertical lines. Each is a plot.Plotter of gonum. An extent gathers the values that the axes must show.

package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// mark is a measured value in a panel: x = 1000 messages/s, y = 2 ms, in the interval from 1.8 to 2.5 ms.
type mark struct {
	x, y      float64 // y is NaN where nothing was measured: a gap
	low, high float64 // the interval of y; both equal y if there is none
	used      bool    // false: void or failed, which has a cross instead of a glyph, and no line to its neighbours
}

// exactMark returns a mark without an interval.
func exactMark(x, y float64, used bool) mark { return mark{x: x, y: y, low: y, high: y, used: used} }

// summaryMark returns a mark at x with the interval of y that tables show.
func summaryMark(x float64, y results.Summary, used bool) mark {
	low, high := y.Bounds()
	return mark{x: x, y: y.Median, low: low, high: high, used: used}
}

// trace draws marks in their order. A line joins neighbours that are used; a gap or a mark that isn't used interrupts
// it.
type trace struct {
	marks []mark
	line  draw.LineStyle
	glyph draw.GlyphStyle // of marks that are used; without a shape, they have none
	apart bool            // no line joins the marks
}

func (t trace) Plot(c draw.Canvas, p *plot.Plot) {
	marks := slices.Clone(t.marks)
	for i, m := range marks {
		if !hasPlace(p.X, m.x) || !hasPlace(p.Y, m.y) { // a gap, as a logarithmic axis panics at 0
			marks[i] = exactMark(math.NaN(), math.NaN(), false)
		}
	}
	x, y := p.Transforms(&c)
	for _, stretch := range stretches(marks) {
		path := lists.Map(stretch, func(m mark) vg.Point { return vg.Point{X: x(m.x), Y: y(m.y)} })
		if len(path) > 1 && !t.apart {
			c.StrokeLines(t.line, c.ClipLinesXY(path)...)
		}
	}
	for _, m := range marks {
		centre := vg.Point{X: x(m.x), Y: y(m.y)}
		if math.IsNaN(m.y) || !c.Contains(centre) {
			continue
		}
		if m.high > m.low {
			upright := draw.LineStyle{Color: t.line.Color, Width: intervalWidth}
			drawInterval(c, upright, centre.X, y(max(m.low, p.Y.Min)), y(min(m.high, p.Y.Max)), endsOf(m, p.Y))
		}
		if !m.used {
			c.DrawGlyph(crossGlyph(t.line.Color), centre)
		} else if t.glyph.Shape != nil {
			c.DrawGlyph(t.glyph, centre)
		}
	}
}

// stretches divides marks into those that a line joins, without gaps and marks that aren't used: of the marks 1, 2,
// gap, 4 it makes [1 2] and [4].
func stretches(marks []mark) [][]mark {
	var all [][]mark
	afterBreak := true
	for _, m := range marks {
		if !m.used || math.IsNaN(m.y) {
			afterBreak = true
			continue
		}
		if afterBreak {
			all = append(all, nil)
		}
		last := len(all) - 1
		all[last] = append(all[last], m)
		afterBreak = false
	}
	return all
}

// intervalEnds says how the upright of an interval ends.
type intervalEnds struct {
	capBelow, capAbove bool // false: it goes on beyond the panel's edge, such as to 0 below a logarithmic axis
	arrow              bool // there is no upper bound
}

func endsOf(m mark, axis plot.Axis) intervalEnds {
	return intervalEnds{capBelow: m.low >= axis.Min, capAbove: m.high <= axis.Max, arrow: math.IsInf(m.high, 1)}
}

// drawInterval draws an upright line with a cap at each end that lies in the panel, or with an arrow instead of an upper bound.
func drawInterval(c draw.Canvas, style draw.LineStyle, x, low, high vg.Length, ends intervalEnds) {
	const halfCap vg.Length = 1.8
	c.StrokeLine2(style, x, low, x, high)
	if ends.capBelow {
		c.StrokeLine2(style, x-halfCap, low, x+halfCap, low)
	}
	if ends.arrow {
		c.StrokeLines(style, []vg.Point{{X: x - halfCap, Y: high - halfCap}, {X: x, Y: high}, {X: x + halfCap, Y: high - halfCap}})
	} else if ends.capAbove {
		c.StrokeLine2(style, x-halfCap, high, x+halfCap, high)
	}
}

// extent is the range of the values that a panel shows on either axis: x from 100 to 10000, y from 1.8e6 to 9e6.
type extent struct{ x, y valueRange }

// newExtent returns an empty extent on axes of the same scaling.
func newExtent(axes scaling) extent { return extent{x: emptyRange(axes), y: emptyRange(axes)} }

// addMarks widens e by marks and their intervals.
func (e *extent) addMarks(marks []mark) {
	for _, m := range marks {
		e.x.add(m.x)
		e.y.add(m.y)
		e.y.add(m.low)
		e.y.add(m.high)
	}
}

// band shades the panel between two values on the x axis.
type band struct{ from, to float64 }

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	from, to := x(max(b.from, p.X.Min)), x(min(b.to, p.X.Max))
	if from < to {
		c.FillPolygon(shade, corners(box(from, to, c.Min.Y, c.Max.Y)))
	}
}

// verticalLine is a dashed line across a panel with a text at its top, if it has one.
type verticalLine struct {
	x    float64
	text string
	row  int // of its text, from 0 at the top: neighbours in different rows don't overwrite each other
}

func (v verticalLine) Plot(c draw.Canvas, p *plot.Plot) {
	toCanvas, _ := p.Transforms(&c)
	x := toCanvas(v.x)
	if !c.ContainsX(x) {
		return
	}
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: intervalWidth, Dashes: shortDashed}, x, c.Min.Y, x, c.Max.Y)
	if v.text == "" {
		return
	}
	const gap vg.Length = 2 // between the line and the text
	style := letters(smallSize, ink)
	style.YAlign = draw.YTop
	left := x + gap
	if left+style.Width(v.text) > c.Max.X { // no room to the right of the line
		left = x - gap - style.Width(v.text)
	}
	top := c.Max.Y - 1 - vg.Length(v.row)*style.FontExtents().Height
	c.FillText(style, vg.Point{X: left, Y: top}, v.text)
}
