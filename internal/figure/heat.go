package figure

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// heat plots a table of coloured cells with a figure in each: the darker, the larger. Cells are one
// unit wide and high; their centres have whole coordinates.
type heat struct {
	metric     results.Metric
	rows, cols []string // the values of both axes; rows from top to bottom
	cells      map[cellKey]heatCell
	colours    colourScale
}

// cellKey names a cell by its values on both axes.
type cellKey struct{ row, col string }

// heatCell is the content of a cell: a figure, or a word if there is none.
type heatCell struct {
	value float64 // over repetitions; NaN without a figure
	used  bool    // false: in parentheses and without colour
	word  string  // instead of a figure: "refused"
}

func (h heat) text(c heatCell) string {
	switch {
	case c.word != "":
		return c.word
	case !c.used:
		return "(" + h.metric.Unit.Format(c.value) + ")"
	}
	return h.metric.Unit.Format(c.value)
}

// panel draws the cells with the names of their rows and columns.
func (h heat) panel(title string, axes heatAxes) *Panel {
	p := newPanel(title, axes.col, axes.row)
	upwards := slices.Clone(h.rows)
	slices.Reverse(upwards)
	setCells(&p.Plot.X, h.cols)
	setCells(&p.Plot.Y, upwards)
	p.grid.Horizontal.Color, p.grid.Vertical.Color = nil, nil
	p.Add(h)
	return p
}

// setCells makes an axis of cells with these names.
func setCells(a *plot.Axis, names []string) {
	labels := lists.Map(names, func(name string) string { return cut(letters(smallSize, ink), cmp.Or(name, "not set"), maxCellName) })
	a.Min, a.Max = -0.5, float64(len(names))-0.5
	a.Tick.Marker, a.Tick.Length = nameTicks(labels), 0
	a.LineStyle.Width = 0
}

func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, row := range h.rows {
		for j, col := range h.cols {
			if cell, ok := h.cells[cellKey{row: row, col: col}]; ok {
				atX, atY := float64(j), float64(len(h.rows)-1-i)
				h.drawCell(c, box(x(atX-0.5), x(atX+0.5), y(atY-0.5), y(atY+0.5)), cell)
			}
		}
	}
}

func (h heat) drawCell(c draw.Canvas, area vg.Rectangle, cell heatCell) {
	const gap vg.Length = 1.5 // between cells, in points
	c = draw.Crop(draw.Canvas{Canvas: c.Canvas, Rectangle: area}, gap/2, -gap/2, gap/2, -gap/2)
	fill, style := color.Color(shade), letters(bodySize, soft)
	if cell.used {
		fill = h.colours.at(cell.value)
		style.Color = readableOn(fill)
	}
	c.FillPolygon(fill, corners(c.Rectangle))
	style.XAlign = draw.XCenter
	fillBeside(c, style, c.Center(), cut(style, h.text(cell), area.Size().X))
}

// legend shows the colours of the least, the middle and the greatest figure.
func (h heat) legend() []Entry {
	return lists.Map(h.colours.samples(), func(v float64) Entry { return Entry{Text: h.metric.Unit.Format(v), Fill: h.colours.at(v)} })
}

// clearRatio is the ratio of the greatest to the least figure from which on colours follow the
// logarithm: on a linear scale, all but the greatest would look alike.
const clearRatio = 5

// colourScale gives the values of a range colours from light to dark blue.
type colourScale struct{ valueRange }

func (s colourScale) logarithmic() bool { return s.low > 0 && s.high/s.low > clearRatio }

// at returns the colour of a value, mixed of the two nearest colours of the palette. If all values are equal it is a
// light one.
func (s colourScale) at(v float64) color.Color {
	if s.high <= s.low {
		return blues[2]
	}
	share := (v - s.low) / (s.high - s.low)
	if s.logarithmic() {
		share = math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	place := share * float64(len(blues)-1)
	i := min(int(place), len(blues)-2)
	return mix(blues[i], blues[i+1], place-float64(i))
}

// samples returns the least, the middle and the greatest value.
func (s colourScale) samples() []float64 {
	switch {
	case s.empty():
		return nil
	case s.low == s.high:
		return []float64{s.low}
	case s.logarithmic():
		return []float64{s.low, math.Sqrt(s.low * s.high), s.high}
	}
	return []float64{s.low, (s.low + s.high) / 2, s.high}
}

// blues is ColorBrewer's palette "Blues" (Harrower and Brewer, 2003) without its lightest colour,
// which looks like an empty cell.
var blues = func() []color.Color {
	p, err := brewer.GetPalette(brewer.TypeSequential, "Blues", 9)
	if err != nil {
		panic("figure: " + err.Error()) // a palette of the library
	}
	return p.Colors()[1:]
}()

// mix returns a for a share of 0, and b for a share of 1.
func mix(a, b color.Color, share float64) color.Color {
	from, to := color.RGBAModel.Convert(a).(color.RGBA), color.RGBAModel.Convert(b).(color.RGBA)
	between := func(a, b uint8) uint8 { return uint8(float64(a)*(1-share) + float64(b)*share) }
	return color.RGBA{R: between(from.R, to.R), G: between(from.G, to.G), B: between(from.B, to.B), A: 0xff}
}

// readableOn returns white on dark colours, and ink on light ones, by their luma.
func readableOn(c color.Color) color.Color {
	const inkFrom = 0.55 // share of full luma from which on ink can be read
	if luma := color.GrayModel.Convert(c).(color.Gray).Y; float64(luma) < inkFrom*0xff {
		return color.White
	}
	return ink
}
