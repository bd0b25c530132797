package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/results"
)

// heat plots the cells of a heat map: a colour and a figure for each point.
type heat struct {
	metric     results.Metric
	rows, cols []string // the values of both axes; rows from top to bottom
	cells      map[cellKey]heatCell
	low, high  float64 // the range of colours: the least and the greatest figure that is used; low > high if none is
	log        bool    // colours follow the logarithm of the figures
}

// cellKey names a cell by its values on both axes.
type cellKey struct{ row, col string }

// heatCell is what a cell shows: a figure, or a word if there is none.
type heatCell struct {
	value float64 // the median; NaN without a figure
	used  bool    // false: in parentheses and without colour
	word  string  // instead of a figure: "refused"
}

// text is the figure of a cell, or its word.
func (h heat) text(c heatCell) string {
	switch {
	case c.word != "":
		return c.word
	case !c.used:
		return "(" + h.metric.Unit.Format(c.value) + ")"
	}
	return h.metric.Unit.Format(c.value)
}

// Plot draws the cells. The centre of a cell has the indexes of its column and row as coordinates, rows counted from below.
func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, row := range h.rows {
		for j, col := range h.cols {
			cell, ok := h.cells[cellKey{row, col}]
			if !ok {
				continue
			}
			atX, atY := float64(j), float64(len(h.rows)-1-i)
			box := vg.Rectangle{Min: vg.Point{X: x(atX - 0.5), Y: y(atY - 0.5)}, Max: vg.Point{X: x(atX + 0.5), Y: y(atY + 0.5)}}
			h.drawCell(c, box, vg.Point{X: x(atX), Y: y(atY)}, cell)
		}
	}
}

func (h heat) drawCell(c draw.Canvas, box vg.Rectangle, centre vg.Point, cell heatCell) {
	fill, style := color.Color(shade), letters(bodySize, soft)
	if cell.used {
		fill = h.colour(cell.value)
		style.Color = readableOn(fill)
	}
	corners := []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}}
	c.FillPolygon(fill, corners)
	c.StrokeLines(draw.LineStyle{Color: color.White, Width: vg.Points(1.5)}, append(corners, box.Min))
	style.XAlign = draw.XCenter
	beside(c, style, centre, cut(style, h.text(cell), box.Max.X-box.Min.X))
}

// blues are the colours of a heat map, from light to dark.
var blues = sequentialBlues()

// sequentialBlues is ColorBrewer's palette "Blues" (Harrower and Brewer, 2003) without its lightest colour, which looks like an
// empty cell.
func sequentialBlues() []color.Color {
	p, err := brewer.GetPalette(brewer.TypeSequential, "Blues", 9)
	if err != nil {
		panic("figure: " + err.Error()) // its name is written above
	}
	return p.Colors()[1:]
}

// colour is darker for larger values. Between the colours of the palette it is mixed.
func (h heat) colour(v float64) color.Color {
	if h.high <= h.low {
		return blues[2]
	}
	share := (v - h.low) / (h.high - h.low)
	if h.log {
		share = math.Log(v/h.low) / math.Log(h.high/h.low)
	}
	at := share * float64(len(blues)-1)
	lighter := min(int(at), len(blues)-2)
	return mixed(blues[lighter], blues[lighter+1], at-float64(lighter))
}

// mixed is a for a share of 0, and b for a share of 1.
func mixed(a, b color.Color, share float64) color.Color {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	const toByte = 257 // 0xffff / 0xff
	mix := func(a, b uint32) uint8 { return uint8((float64(a)*(1-share) + float64(b)*share) / toByte) }
	return color.RGBA{mix(ar, br), mix(ag, bg), mix(ab, bb), 0xff}
}

// readableOn is white on dark colours, and ink on light ones. The weights are those of luma in ITU-R BT.601.
func readableOn(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	if luma := 0.299*float64(r) + 0.587*float64(g) + 0.114*float64(b); luma < 0.55*0xffff {
		return color.White
	}
	return ink
}

// legend shows the colours of the least, the middle and the greatest figure.
func (h heat) legend() []Entry {
	values := []float64{h.low}
	switch {
	case h.low > h.high:
		return nil
	case h.low < h.high && h.log:
		values = []float64{h.low, math.Sqrt(h.low * h.high), h.high}
	case h.low < h.high:
		values = []float64{h.low, (h.low + h.high) / 2, h.high}
	}
	var entries []Entry
	for _, v := range values {
		entries = append(entries, Entry{Text: h.metric.Unit.Format(v), Fill: h.colour(v)})
	}
	return entries
}
