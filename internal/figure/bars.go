// Panels of bars, for the figures "cost" and "sustainable":
//
//	kafka    ▇▇▇▇▇▇▇▇▒▒▒├──┤ 412k/s    two parts, stacked, and an interval of their sum
//	nats     ╍╍╍╍╍╍╍╍ (315k/s)         void: only an outline
//	pulsar   refused                   a word instead of a figure

package figure

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// maxBars is how many bars a figure has below each other.
const maxBars = 30

// Lengths of bars.
const (
	barNames         = 5.5 * vg.Centimeter // the widest name beside a bar
	barGap           = vg.Length(4)        // points, between a bar and its figure
	maxHalfBar       = vg.Length(8)        // points, half the height of a bar
	halfBarShare     = 0.34                // of the distance between rows
	roomForFigures   = 1.35                // length of an axis, as a multiple of its longest bar
	openIntervalPart = 0.05                // length of an interval without an upper bound, as a share of the axis
	aroundBars       = 2 * vg.Centimeter   // height of the words and ticks of a panel
)

// ofBars returns a figure of rows of panels, with so many bars below each other and so much height for each.
func ofBars(title string, rows [][]*Panel, bars int, barHeight vg.Length) (Figure, error) {
	if err := tooMany(bars, maxBars, "bars"); err != nil {
		return Figure{}, err
	}
	height := aroundPanels + vg.Length(len(rows))*aroundBars + vg.Length(bars)*barHeight
	return Figure{Title: title, Panels: rows, Width: figureWidth, Height: height}, nil
}

// bar is a row of a panel: parts stacked from 0, an interval of their sum, and the sum as a text at the end.
type bar struct {
	name     string
	colour   color.RGBA // of the first part; later ones are lighter
	parts    []float64  // nil: the figure is not known
	interval *interval  // nil: there is none
	used     bool       // false: outlined only, the figure in parentheses
	word     string     // instead of a figure: "refused"
}

// interval is the range in which a figure lies. high is +Inf if there is no upper bound.
type interval struct{ low, high float64 }

// sum returns the figure that the bar shows: the sum of its parts.
func (b bar) sum() float64 { return floats.Sum(b.parts) }

func (b bar) hasFigure() bool { return b.word == "" && b.parts != nil }

// hasInterval reports whether the bar has an interval that is drawn.
func (b bar) hasInterval() bool {
	return b.used && b.interval != nil && b.interval.high > b.interval.low
}

func (b bar) text(u unit.Unit) string {
	switch {
	case b.word != "":
		return b.word
	case !b.hasFigure():
		return "not known"
	case !b.used:
		return "(" + u.Format(b.sum()) + ")"
	}
	return u.Format(b.sum())
}

// wordFor returns a word for a point without a figure: its status, or that nothing is known.
func wordFor(p results.Point) string {
	if status := p.Status(); status != string(results.OK) {
		return status
	}
	return "not known"
}

// sortBars puts the longest bar first. Bars that aren't used come after those that are, and those
// without a figure last.
func sortBars(bars []bar) {
	slices.SortStableFunc(bars, func(a, b bar) int {
		return cmp.Or(
			compareBools(!a.hasFigure(), !b.hasFigure()),
			compareBools(!a.used, !b.used),
			cmp.Compare(b.sum(), a.sum()),
		)
	})
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// barsPanel returns a panel of bars from top to bottom, with their names beside them.
func barsPanel(title, axis string, bars []bar, u unit.Unit) *Panel {
	p := newPanel(title, "", axis)
	if longest := longestOf(bars); longest > 0 {
		setLinear(&p.Plot.X, 0, longest, u, 4)
		p.Plot.X.Max = longest * roomForFigures
	} else { // words only
		p.Plot.X.Min, p.Plot.X.Max = 0, 1
		p.Plot.X.Tick.Marker = plot.ConstantTicks{}
	}
	var names []string
	for _, b := range slices.Backward(bars) { // the axis goes upwards
		names = append(names, cut(p.Plot.Y.Tick.Label, b.name, barNames))
	}
	p.Plot.Y.Min, p.Plot.Y.Max = -0.6, float64(len(bars))-0.4
	p.Plot.Y.Tick.Marker = nameTicks(names)
	p.Plot.Y.Tick.Length = 0
	p.grid.Horizontal.Color = nil
	p.Weight = float64(len(bars)) + 0.5
	p.Add(barPlotter{bars: bars, unit: u})
	return p
}

// longestOf returns the largest value that an axis of bars must show: that of a bar, or the upper end of an interval
// that is drawn. It returns 0 if there is nothing to show.
func longestOf(bars []bar) float64 {
	longest := 0.0
	for _, b := range bars {
		if b.hasFigure() {
			longest = max(longest, b.sum())
		}
		if b.hasInterval() && !math.IsInf(b.interval.high, 1) {
			longest = max(longest, b.interval.high)
		}
	}
	return longest
}

// barPlotter draws bars on a linear axis from 0.
type barPlotter struct {
	bars []bar
	unit unit.Unit
}

func (s barPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, b := range s.bars {
		row := float64(len(s.bars) - 1 - i) // the axis goes upwards
		middle := y(row)
		half := min(y(row+halfBarShare)-middle, maxHalfBar) // of the bar's height
		end := x(0)
		if b.hasFigure() {
			b.drawParts(c, x, middle, half)
			end = x(b.sum())
		}
		if b.hasInterval() {
			low, high := x(max(0, b.interval.low)), x(b.intervalEnd(p.X.Max))
			b.drawInterval(c, low, high, middle, half)
			end = max(end, high)
		}
		style := letters(smallSize, ink)
		if !b.used || b.word != "" {
			style.Color = soft
		}
		fillBeside(c, style, vg.Point{X: end + barGap, Y: middle}, b.text(s.unit))
	}
}

// drawParts stacks the parts from 0. x turns values into places on the canvas.
func (b bar) drawParts(c draw.Canvas, x func(float64) vg.Length, middle, half vg.Length) {
	value := 0.0
	for i, part := range b.parts {
		if part <= 0 {
			continue
		}
		shape := corners(box(x(value), x(value+part), middle-half, middle+half))
		value += part
		if b.used {
			c.FillPolygon(lighter(b.colour, i), shape)
		} else {
			c.StrokeLines(lineDashed(unused, shortDashed), append(shape, shape[0]))
		}
	}
}

// drawInterval draws a line with a cap at either end, or with an arrow instead of an upper bound.
func (b bar) drawInterval(c draw.Canvas, left, right, middle, half vg.Length) {
	style := draw.LineStyle{Color: ink, Width: intervalWidth}
	c.StrokeLine2(style, left, middle, right, middle)
	c.StrokeLine2(style, left, middle-half/2, left, middle+half/2)
	if math.IsInf(b.interval.high, 1) {
		c.StrokeLines(style, []vg.Point{{X: right - half/2, Y: middle + half/2}, {X: right, Y: middle}, {X: right - half/2, Y: middle - half/2}})
	} else {
		c.StrokeLine2(style, right, middle-half/2, right, middle+half/2)
	}
}

// intervalEnd returns where the interval ends on an axis. Without an upper bound it ends a little beyond the bar, with
// room for the figure.
func (b bar) intervalEnd(axisEnd float64) float64 {
	if math.IsInf(b.interval.high, 1) {
		return max(b.interval.low, b.sum()) + openIntervalPart*axisEnd
	}
	return min(b.interval.high, axisEnd)
}

// lighter returns the colour of the i-th part of a bar: each is half way from the one before to white.
func lighter(c color.RGBA, i int) color.RGBA {
	for range i {
		c.R, c.G, c.B = c.R+(255-c.R)/2, c.G+(255-c.G)/2, c.B+(255-c.B)/2
	}
	return c
}
