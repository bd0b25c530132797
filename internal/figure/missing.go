package figure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// withoutFigure is a note that names what a figure of latencies was given and doesn't draw, and why: "Without a figure: nats, rate 1k/s
// (refused); pulsar, peak (closed loop)." It has no elements if everything is drawn. isDrawn tells what is.
func withoutFigure(points []results.Point, isDrawn func(results.LoadPoint) bool) []string {
	isAlone := len(results.BySetting(points)) == 1
	var missing []string
	add := func(p results.Point, load, why string) {
		setting := p.Setting()
		if isAlone {
			setting = ""
		}
		missing = addNew(missing, fmt.Sprintf("%s (%s)", joined([]string{p.Name, setting, load}, ", "), why))
	}
	for _, p := range points {
		loads := p.MeasuredLoads()
		if len(loads) == 0 {
			add(p, p.Load(), wordFor(p))
		}
		for _, l := range loads {
			switch {
			case isDrawn(l):
			case !l.Used():
				add(p, l.RowTitle, string(l.Status))
			case l.Closed:
				add(p, l.RowTitle, "closed loop")
			default:
				add(p, l.RowTitle, "not known")
			}
		}
	}
	if missing == nil {
		return nil
	}
	slices.SortFunc(missing, results.CompareNames)
	return []string{"Without a figure: " + strings.Join(results.Shorten(missing), "; ") + "."}
}
