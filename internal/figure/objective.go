package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
)

// bound is the line of an objective across a panel.
type bound struct {
	at   float64
	text string // the objective
}

// boundStyle is dotted, unlike every line of data.
var boundStyle = draw.LineStyle{Color: ink, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(1), vg.Points(2)}}

func (b bound) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	if !hasPlace(p.Y, b.at) {
		return
	}
	if at := y(b.at); at >= c.Min.Y && at <= c.Max.Y {
		c.StrokeLine2(boundStyle, c.Min.X, at, c.Max.X, at)
	}
}

// boundsOf are those that the points' objectives set for the metrics of a figure, each once.
func boundsOf(points []results.Point, drawn func(results.Metric) bool) []bound {
	var list []bound
	for _, p := range points {
		objectives, err := gate.Objectives(p.Records[len(p.Records)-1].Spec)
		if err != nil {
			continue // the objectives of a newer version
		}
		for _, c := range objectives {
			metric, at, ok := c.Bound()
			b := bound{at, c.Text}
			if ok && drawn(metric) && !slices.Contains(list, b) {
				list = append(list, b)
			}
		}
	}
	return list
}

// include widens e so that the bounds can be seen; positive as in take.
func (e *extent) include(bounds []bound, positive bool) {
	for _, b := range bounds {
		if e.high >= e.low && (!positive || b.at > 0) {
			e.low, e.high = math.Min(e.low, b.at), math.Max(e.high, b.at)
		}
	}
}

// boundsLegend has an entry for each of them.
func boundsLegend(bounds []bound) []Entry {
	var entries []Entry
	for _, b := range bounds {
		style := boundStyle
		entries = append(entries, Entry{Text: "objective " + b.text, Line: &style})
	}
	return entries
}
