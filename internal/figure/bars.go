package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/unit"
)

// bar is one row: parts stacked from 0, and an interval of their sum; or a word if there is nothing to draw.
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

// roomForFigures is how much longer an axis of bars is than the longest bar, for the figures at their ends.
const roomForFigures = 1.35

// barsPanel is a panel of rows with their names.
func barsPanel(title, axis string, rows []bar, u unit.Unit) *Panel {
	p := panel(title, "", axis)
	if top := longest(rows); top > 0 {
		linearAxis(&p.Plot.X, u, 0, top, 4)
		p.Plot.X.Max = top * roomForFigures
	} else { // words, and nothing to measure them by
		p.Plot.X.Min, p.Plot.X.Max = 0, 1
		p.Plot.X.Tick.Marker = plot.ConstantTicks{}
	}
	var names []string
	for _, b := range rows {
		names = append(names, cut(p.Plot.Y.Tick.Label, b.name, 5.5*vg.Centimeter))
	}
	p.Plot.Y.Min, p.Plot.Y.Max = -0.6, float64(len(rows))-0.4
	p.Plot.Y.Tick.Marker = downwardTicks(names)
	p.Plot.Y.Tick.Length = 0
	p.grid.Horizontal.Color = nil
	p.Weight = float64(len(rows)) + 0.5
	p.Add(bars{rows, u})
	return p
}

// withoutNames is a panel of bars whose rows are named by the panel to its left.
func withoutNames(p *Panel, rows int) *Panel {
	p.Plot.Y.Tick.Marker = downwardTicks(slices.Repeat([]string{" "}, rows))
	return p
}

// downwardTicks label rows, the first on top.
func downwardTicks(labels []string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, label := range labels {
		ticks = append(ticks, plot.Tick{Value: float64(len(labels) - 1 - i), Label: label})
	}
	return ticks
}

// longest is the end of the longest bar, or of the highest interval of a bar that is used; 0 if there is none.
func longest(rows []bar) float64 {
	top := 0.0
	for _, b := range rows {
		if v := b.sum(); !math.IsNaN(v) {
			top = max(top, v)
		}
		if b.used && !math.IsNaN(b.high) && !math.IsInf(b.high, 0) {
			top = max(top, b.high)
		}
	}
	return top
}

// mostHalf is the largest half height of a bar.
const mostHalf = vg.Length(8)

// Plot draws the bars, their intervals and their figures.
func (s bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, b := range s.rows {
		at := float64(len(s.rows) - 1 - i)
		middle := y(at)
		half := min(y(at+0.34)-middle, mostHalf) // 0.34 of the distance between rows
		end := b.drawParts(c, x, middle, half)
		if b.used && b.high > b.low {
			end = max(end, b.drawInterval(c, x, middle, half, p.X.Max))
		}
		style := letters(smallSize, ink)
		if !b.used || b.word != "" {
			style.Color = soft
		}
		beside(c, style, vg.Point{X: end + vg.Points(4), Y: middle}, b.figure(s.unit))
	}
}

// drawParts stacks the parts of a bar, and returns where they end.
func (b bar) drawParts(c draw.Canvas, x func(float64) vg.Length, middle, half vg.Length) (end vg.Length) {
	end = x(0)
	if math.IsNaN(b.sum()) { // labelled as not known: its known parts would look like the whole
		return end
	}
	for k, part := range b.parts {
		if part <= 0 {
			continue
		}
		from := end
		end += x(part) - x(0)
		box := []vg.Point{{X: from, Y: middle - half}, {X: end, Y: middle - half}, {X: end, Y: middle + half}, {X: from, Y: middle + half}}
		if b.used {
			c.FillPolygon(lighter(b.colour, k), box)
		} else {
			c.StrokeLines(lineDashed(unused, []vg.Length{2, 2}), append(box, box[0]))
		}
	}
	return end
}

// drawInterval draws a line with a cap at either end, or with an arrow instead of an upper bound, and returns where it ends.
func (b bar) drawInterval(c draw.Canvas, x func(float64) vg.Length, middle, half vg.Length, axisEnd float64) (end vg.Length) {
	low, high := x(max(0, b.low)), x(b.reach(axisEnd)) // the axis begins at 0; left of it are the names
	style := draw.LineStyle{Color: ink, Width: vg.Points(0.9)}
	c.StrokeLine2(style, low, middle, high, middle)
	c.StrokeLine2(style, low, middle-half/2, low, middle+half/2)
	if math.IsInf(b.high, 1) {
		tip := vg.Point{X: high, Y: middle}
		c.StrokeLines(style, []vg.Point{{X: high - half/2, Y: middle + half/2}, tip, {X: high - half/2, Y: middle - half/2}})
	} else {
		c.StrokeLine2(style, high, middle-half/2, high, middle+half/2)
	}
	return high
}

// lighter is the colour of the k-th part of a stack: each is half way from the one before to white.
func lighter(c color.RGBA, k int) color.RGBA {
	for range k {
		c.R, c.G, c.B = c.R+(255-c.R)/2, c.G+(255-c.G)/2, c.B+(255-c.B)/2
	}
	return c
}
