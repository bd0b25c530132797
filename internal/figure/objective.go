package figure

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// bound is a dotted line across a panel at the limit of an objective, such as "e2e_p99 <= 50ms".
type bound struct {
	y         float64
	objective string
}

var boundStyle = draw.LineStyle{Color: ink, Width: 1, Dashes: dotted} // unlike every line of data

func (b bound) Plot(c draw.Canvas, p *plot.Plot) {
	if !hasPlace(p.Y, b.y) {
		return
	}
	_, toCanvas := p.Transforms(&c)
	if y := toCanvas(b.y); c.ContainsY(y) {
		c.StrokeLine2(boundStyle, c.Min.X, y, c.Max.X, y)
	}
}

// boundsOf returns the limits that the points' objectives set for the metrics that a figure draws, each once.
func boundsOf(points []results.Point, draws func(results.Metric) bool) []bound {
	var bounds []bound
	for _, p := range points {
		objectives, _ := gate.Objectives(p.Records[len(p.Records)-1].Spec) // one that can't be read has no limit to draw
		for _, o := range objectives {
			metric, limit, ok := o.Bound()
			b := bound{y: limit, objective: o.Text}
			if ok && draws(metric) && !slices.Contains(bounds, b) {
				bounds = append(bounds, b)
			}
		}
	}
	return bounds
}

func (p *Panel) addBounds(bounds []bound) {
	for _, b := range bounds {
		p.Add(b)
	}
}

// addBounds widens e so that bounds are within the panel.
func (e *extent) addBounds(bounds []bound) {
	for _, b := range bounds {
		e.y.add(b.y)
	}
}

func boundEntries(bounds []bound) []Entry {
	return lists.Map(bounds, func(b bound) Entry { return lineEntry("objective "+b.objective, boundStyle) })
}
