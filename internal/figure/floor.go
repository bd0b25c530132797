// The floor of the figure "percentiles". A thread that only sleeps notes how late it wakes. If one time in a hundred it
// was late by 2 ms or more, then so may messages have been, through no fault of the broker: at 99 %, the latencies
// below 2 ms are shaded.

package figure

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// floor shades the latencies that the measuring machine itself may have caused. Its marks are pauses by percentile.
type floor struct{ marks []mark }

const floorText = "own pauses of this machine: nothing is known below"

var floorColour = color.RGBA{0xe2, 0xe2, 0xe2, 0xff}

// floorOf returns the floor below distributions: at each percentile the longest pause of any of their machines. It
// returns nil if no pauses were recorded.
func floorOf(distributions []results.Distribution) *floor {
	usable := lists.Filter(distributions, func(d results.Distribution) bool { return d.Used && d.Pauses.Count() > 0 })
	recordings := lists.Map(usable, func(d results.Distribution) hist.Snapshot { return d.Pauses })
	if recordings == nil {
		return nil
	}
	byCount := func(a, b hist.Snapshot) int { return cmp.Compare(a.Count(), b.Count()) }
	marks := percentileMarks(slices.MaxFunc(recordings, byCount), true) // of the most pauses: its percentiles go furthest
	last := len(marks) - 1
	for _, r := range recordings {
		for i, m := range marks {
			marks[i].y = max(m.y, float64(r.Quantile(quantileAt(m.x))))
		}
		marks[last].y = max(marks[last].y, float64(r.Max())) // the last mark is the maximum, which is no percentile
	}
	return &floor{marks: marks}
}

// widen makes room for the floor in a range of latencies: up to the longest pause, and down to the shortest, but not below
// a tenth of the lowest latency, where a floor would mean nothing.
func (f *floor) widen(latencies *valueRange) {
	hasLatency, lowest := !latencies.empty(), latencies.low
	for _, m := range f.marks {
		latencies.add(m.y)
	}
	if hasLatency {
		latencies.low = max(latencies.low, lowest/10)
	}
}

// Plot fills the panel below the marks, clipped to the axes. Beyond the last mark the floor stays as high as the longest pause that was noted.
func (f *floor) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var edge []vg.Point
	height := c.Min.Y
	for _, m := range f.marks {
		if m.x > p.X.Max {
			break
		}
		height = y(min(max(m.y, p.Y.Min), p.Y.Max))
		edge = append(edge, vg.Point{X: x(m.x), Y: height})
	}
	edge = append(edge, vg.Point{X: c.Max.X, Y: height})
	area := append([]vg.Point{c.Min}, edge...)
	c.FillPolygon(floorColour, append(area, vg.Point{X: c.Max.X, Y: c.Min.Y}))
	c.StrokeLines(draw.LineStyle{Color: soft, Width: axisWidth}, edge)
}
