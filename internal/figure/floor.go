package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
)

const floorText = "own pauses of this machine: nothing is known below"

var floorColour = color.RGBA{0xe2, 0xe2, 0xe2, 0xff}

// floor shades the latencies below the pauses of the measuring machine itself, percentile by percentile: a latency there may
// be made of them.
type floor struct{ marks []mark }

// floorOf is the floor below distributions: at each percentile the longest pause of any of their machines. It is nil if no pauses were
// recorded.
func floorOf(all []results.Distribution) *floor {
	var longest hist.Snapshot // the recording with the most pauses, which decides how far the percentiles go
	var watched []hist.Snapshot
	for _, d := range all {
		if d.Used && d.Pauses.Count() > 0 {
			watched = append(watched, d.Pauses)
			if d.Pauses.Count() > longest.Count() {
				longest = d.Pauses
			}
		}
	}
	if watched == nil {
		return nil
	}
	marks := percentileMarks(longest, true)
	for i := range marks {
		for _, s := range watched {
			marks[i].y = math.Max(marks[i].y, float64(s.Quantile(1-1/marks[i].x)))
		}
	}
	for _, s := range watched {
		last := &marks[len(marks)-1]
		last.y = math.Max(last.y, float64(s.Max()))
	}
	return &floor{marks}
}

// widen makes room for f in e: on a logarithmic axis down to a tenth of the lowest latency, below which a floor is as
// good as none.
func (f *floor) widen(e *extent, log bool) {
	low := e.low
	for _, m := range f.marks {
		if m.y > 0 || !log {
			e.high = math.Max(e.high, m.y)
			e.low = math.Min(e.low, math.Max(m.y, low/10))
		}
	}
}

func (f *floor) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	level := func(v float64) vg.Length { return y(math.Min(math.Max(v, p.Y.Min), p.Y.Max)) }
	area := []vg.Point{{X: c.Min.X, Y: c.Min.Y}}
	var edge []vg.Point
	last := c.Min.Y
	for _, m := range f.marks {
		if m.x > p.X.Max {
			break
		}
		last = level(m.y)
		edge = append(edge, vg.Point{X: x(m.x), Y: last})
	}
	edge = append(edge, vg.Point{X: c.Max.X, Y: last}) // as long as it was watched, no pause was longer
	area = append(append(area, edge...), vg.Point{X: c.Max.X, Y: c.Min.Y})
	c.FillPolygon(floorColour, area)
	c.StrokeLines(draw.LineStyle{Color: soft, Width: vg.Points(0.5)}, edge)
}
