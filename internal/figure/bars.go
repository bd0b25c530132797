package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/unit"
)

// bar is one row: parts stacked from 0, an interval of their sum, and a word if there is nothing to draw.
type bar struct {
	name      string
	parts     []float64
	low, high float64 // the interval; NaN if there is none
	used      bool    // false: outlined only, the figure in parentheses
	word      string  // instead of a figure: "refused"
	colour    color.RGBA
}

func (b bar) sum() float64 {
	var sum float64
	for _, p := range b.parts {
		sum += p
	}
	return sum
}

// reach is the end of the interval on an axis up to most. An interval without an upper bound ends in an arrow, which leaves room
// for the figure.
func (b bar) reach(most float64) float64 {
	if math.IsInf(b.high, 1) {
		return math.Max(b.low, b.sum()) + 0.05*most
	}
	return math.Min(b.high, most)
}

// figure is the text at the end of the bar.
func (b bar) figure(u unit.Unit) string {
	switch {
	case b.word != "":
		return b.word
	case math.IsNaN(b.sum()):
		return "not known"
	case !b.used:
		return "(" + u.Format(b.sum()) + ")"
	}
	return u.Format(b.sum())
}

// bars are rows from top to bottom, on a linear axis from 0: the length of a bar is its value.
type bars struct {
	rows []bar
	unit unit.Unit
}

// barsPanel is a panel of rows. It names them unless the panel to the left does.
func barsPanel(title, x string, rows []bar, u unit.Unit, names bool) *Panel {
	p := panel(title, "", x)
	top := 0.0
	for _, b := range rows {
		if v := b.sum(); !math.IsNaN(v) {
			top = math.Max(top, v)
		}
		if b.used && !math.IsNaN(b.high) && !math.IsInf(b.high, 0) {
			top = math.Max(top, b.high)
		}
	}
	if top > 0 {
		linearAxis(&p.Plot.X, u, 0, top, 4)
		p.Plot.X.Max = top * 1.35 // room for the figures
	} else { // words, and nothing to measure them by
		p.Plot.X.Min, p.Plot.X.Max = 0, 1
		p.Plot.X.Tick.Marker = plot.ConstantTicks{}
	}
	p.Plot.Y.Min, p.Plot.Y.Max = -0.6, float64(len(rows))-0.4
	var ticks plot.ConstantTicks
	for i, b := range rows {
		t := plot.Tick{Value: float64(len(rows) - 1 - i), Label: " "}
		if names {
			t.Label = cut(p.Plot.Y.Tick.Label, b.name, 5.5*vg.Centimeter)
		}
		ticks = append(ticks, t)
	}
	p.Plot.Y.Tick.Marker = ticks
	p.Plot.Y.Tick.Length = 0
	p.grid.Horizontal.Color = nil
	p.Weight = float64(len(rows)) + 0.5
	p.Add(bars{rows, u})
	return p
}

func (s bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, b := range s.rows {
		at := float64(len(s.rows) - 1 - i)
		middle := y(at)
		half := vg.Length(math.Min(float64(y(at+0.34)-middle), 8))
		left, right := x(0), x(0)
		for k, part := range b.parts {
			if math.IsNaN(part) || part <= 0 {
				continue
			}
			from := right
			right += x(part) - x(0)
			box := []vg.Point{{X: from, Y: middle - half}, {X: right, Y: middle - half}, {X: right, Y: middle + half}, {X: from, Y: middle + half}}
			if b.used {
				c.FillPolygon(lighter(b.colour, k), box)
			} else {
				c.StrokeLines(lineDashed(unused, []vg.Length{2, 2}), append(box, box[0]))
			}
		}
		end := right
		if b.used && b.high > b.low {
			high := x(b.reach(p.X.Max))
			end = max(end, high)
			mark := draw.LineStyle{Color: ink, Width: vg.Points(0.9)}
			c.StrokeLine2(mark, x(b.low), middle, high, middle)
			c.StrokeLine2(mark, x(b.low), middle-half/2, x(b.low), middle+half/2)
			if math.IsInf(b.high, 1) {
				tip := vg.Point{X: high, Y: middle}
				c.StrokeLines(mark, []vg.Point{{X: high - half/2, Y: middle + half/2}, tip, {X: high - half/2, Y: middle - half/2}})
			} else {
				c.StrokeLine2(mark, high, middle-half/2, high, middle+half/2)
			}
		}
		style := letters(smallSize, ink)
		if !b.used || b.word != "" {
			style.Color = soft
		}
		beside(c, style, vg.Point{X: max(end, left) + vg.Points(4), Y: middle}, b.figure(s.unit))
	}
}

// lighter is the colour of the k-th part of a stack.
func lighter(c color.RGBA, k int) color.RGBA {
	for range k {
		c.R, c.G, c.B = c.R+(255-c.R)/2, c.G+(255-c.G)/2, c.B+(255-c.B)/2
	}
	return c
}
