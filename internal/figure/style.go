package figure

import (
	"image/color"
	"math"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lengths are in points, 1/72 inch, unless a unit is written.
const (
	titleSize      vg.Length = 13
	panelTitleSize vg.Length = 10
	bodySize       vg.Length = 9
	smallSize      vg.Length = 8

	lineWidth     vg.Length = 1.3 // of data
	intervalWidth vg.Length = 0.8
	axisWidth     vg.Length = 0.5
	tickLength    vg.Length = 3
	glyphRadius   vg.Length = 2.6
	crossRadius   vg.Length = 3

	// middleOfLetters is how far the middle of small letters lies above their base line, as a share of the ascent.
	middleOfLetters = 0.36
)

// figureWidth is the width of a figure across a page of text.
const figureWidth = 18 * vg.Centimeter

// palette is that of Okabe and Ito (Color Universal Design, 2008), which people with any kind of
// colour vision can tell apart, without its yellow, which is too light on white paper. Glyphs and
// dashes vary with it for copies without colours.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x9e, 0x73, 0xff}, // green
	{0xcc, 0x79, 0xa7, 0xff}, // purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky
	{0x33, 0x33, 0x33, 0xff}, // black
}

var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
}

var (
	ink    = color.RGBA{0x22, 0x22, 0x22, 0xff}
	soft   = color.RGBA{0x66, 0x66, 0x66, 0xff} // words that are read last
	faint  = color.RGBA{0xe4, 0xe4, 0xe4, 0xff} // grids
	shade  = color.RGBA{0xf1, 0xf1, 0xf1, 0xff} // areas without usable data
	unused = color.RGBA{0x88, 0x88, 0x88, 0xff} // void or failed points

	dashed      = []vg.Length{4, 2.5}
	dotted      = []vg.Length{1, 2}
	shortDashed = []vg.Length{2, 2}
)

// colourOf returns the colour of the i-th thing that has a name.
func colourOf(i int) color.RGBA { return palette[i%len(palette)] }

func line(c color.Color) draw.LineStyle { return draw.LineStyle{Color: c, Width: lineWidth} }

func lineDashed(c color.Color, dashes []vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: lineWidth, Dashes: dashes}
}

// glyph returns the glyph of the i-th name. Each time the colours repeat, a colour gets its next glyph.
func glyph(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colourOf(i), Radius: glyphRadius, Shape: glyphs[(i+i/len(palette))%len(glyphs)]}
}

// crossGlyph marks points that were measured but aren't used.
func crossGlyph(c color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: crossRadius, Shape: draw.CrossGlyph{}}
}

// letters returns a text style in Liberation Sans, whose letters are as wide as Arial's.
func letters(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color: c, Handler: plot.DefaultTextHandler,
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
	}
}

func bold(size vg.Length) text.Style {
	s := letters(size, ink)
	s.Font.Weight = stdfont.WeightBold
	return s
}

// diamond is a square on its tip, with the area of a circle of the glyph's radius.
type diamond struct{}

func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, centre vg.Point) {
	r := s.Radius * vg.Length(math.Sqrt(math.Pi/2))
	c.FillPolygon(s.Color, []vg.Point{
		{X: centre.X, Y: centre.Y + r}, {X: centre.X + r, Y: centre.Y}, {X: centre.X, Y: centre.Y - r}, {X: centre.X - r, Y: centre.Y},
	})
}

// box returns a rectangle with these edges.
func box(left, right, bottom, top vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: right, Y: top}}
}

// corners returns the corners of a rectangle, anticlockwise.
func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}
