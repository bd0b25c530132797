package figure

import (
	"image/color"
	"math"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Okabe and Ito's palette, which people with any kind of colour vision can tell apart; without its yellow, which
// white paper swallows. Glyphs and dashes vary with it, so that a copy without colours can still be read.
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
	soft   = color.RGBA{0x66, 0x66, 0x66, 0xff}
	faint  = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
	shade  = color.RGBA{0xf1, 0xf1, 0xf1, 0xff}
	unused = color.RGBA{0x88, 0x88, 0x88, 0xff} // of void points

	dashed = []vg.Length{vg.Points(4), vg.Points(2.5)}
)

func colourOf(i int) color.RGBA         { return palette[i%len(palette)] }
func glyphOf(i int) draw.GlyphDrawer    { return glyphs[(i+i/len(palette))%len(glyphs)] }
func line(c color.Color) draw.LineStyle { return draw.LineStyle{Color: c, Width: vg.Points(1.3)} }

func lineDashed(c color.Color, dashes []vg.Length) draw.LineStyle {
	l := line(c)
	l.Dashes = dashes
	return l
}

// glyph sizes its shape by area, so that a square doesn't look bigger than a circle.
func glyph(i int, c color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: vg.Points(2.6), Shape: glyphOf(i)}
}

// voidGlyph marks figures that were measured but aren't used.
func voidGlyph(c color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: vg.Points(3), Shape: draw.CrossGlyph{}}
}

// letters is a text style in Liberation Sans, whose measures are Arial's.
func letters(size float64, c color.Color) text.Style {
	return text.Style{
		Color: c, Handler: plot.DefaultTextHandler,
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)},
	}
}

func bold(size float64) text.Style {
	s := letters(size, ink)
	s.Font.Weight = stdfont.WeightBold
	return s
}

const (
	titleSize = 13.0
	bodySize  = 9.0
	smallSize = 8.0
)

// panel is an empty plot in the house's style: a light grid, no box, and above it its title and the meaning of its upright
// axis.
func panel(title, x, y string) *Panel {
	p := &Panel{Plot: plot.New(), Title: title, X: x, Y: y}
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.Plot.X, &p.Plot.Y} {
		a.Tick.Label.Font = letters(smallSize, ink).Font
		a.Tick.Label.Color = ink
		a.LineStyle = draw.LineStyle{Color: soft, Width: vg.Points(0.5)}
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = vg.Points(3)
		a.Padding = 0
	}
	g := plotter.NewGrid()
	p.grid = g
	g.Vertical = draw.LineStyle{Color: faint, Width: vg.Points(0.5)}
	g.Horizontal = g.Vertical
	p.Add(g)
	return p
}

// diamond is a square on its tip.
type diamond struct{}

func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.SetColor(s.Color)
	r := s.Radius * vg.Length(math.Sqrt(math.Pi/2))
	var path vg.Path
	path.Move(vg.Point{X: at.X, Y: at.Y + r})
	path.Line(vg.Point{X: at.X + r, Y: at.Y})
	path.Line(vg.Point{X: at.X, Y: at.Y - r})
	path.Line(vg.Point{X: at.X - r, Y: at.Y})
	path.Close()
	c.Fill(path)
}
