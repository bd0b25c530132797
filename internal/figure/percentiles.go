package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

const maxLines = 14 // each of seven colours twice, drawn through and dashed

// percentiles draws a panel for each size and guarantee, and in it a line for each broker and load.
func percentiles(points []results.Point, o Options) (Figure, error) {
	kind, err := results.LatencyByName(o.Latency)
	if err != nil {
		return Figure{}, err
	}
	all := results.Distributions(points, kind)
	measured := len(all)
	all = slices.DeleteFunc(all, func(d results.Distribution) bool { return d.Closed })
	switch {
	case len(all) == 0 && measured > 0:
		return Figure{}, nothing("all of the records are of closed loops, whose latency says how full the window or the backlog was")
	case len(all) == 0:
		return Figure{}, nothing("none of the records holds the latency %s", kind.Name)
	}
	names := lineNames(all)
	if err := tooMany(len(names), maxLines, "lines"); err != nil {
		return Figure{}, err
	}
	f := Figure{Title: "Latency by percentile", Width: 18 * vg.Centimeter}
	var panels []*Panel
	settings, groups := results.PointsBySetting(points)
	for _, setting := range settings {
		inPanel := slices.DeleteFunc(slices.Clone(all), func(d results.Distribution) bool {
			return !slices.ContainsFunc(groups[setting], func(p results.Point) bool { return p.ID == d.Point.ID })
		})
		if len(inPanel) > 0 {
			p := panel(setting, "percentile (%)", kind.Text)
			drawPercentiles(p, inPanel, func(d results.Distribution) int { return slices.Index(names, lineName(d, all)) }, o)
			panels = append(panels, p)
		}
	}
	if err := tooMany(len(panels), maxPanels, "sizes and guarantees"); err != nil {
		return Figure{}, err
	}
	f.Panels = grid(panels, 2)
	f.Height = 2.6*vg.Centimeter + vg.Length(len(f.Panels))*8*vg.Centimeter
	f.Legend = percentileLegend(names, all)
	f.Notes = []string{"Histograms of all repetitions merged; a line ends where a single message decides. " + kindNote(kind)}
	return f, nil
}

// drawPercentiles puts a line for each distribution into a panel, above the floor below which nothing is known.
func drawPercentiles(p *Panel, all []results.Distribution, number func(results.Distribution) int, o Options) {
	e := noExtent()
	under := floorOf(all)
	if under != nil {
		p.Add(under) // below the lines
	}
	for _, d := range all {
		t := trace{marks: percentileMarks(d.Snapshot, d.Used), line: numbered(number(d))}
		e.take(t.marks, !o.Linear)
		p.Add(t)
	}
	if under != nil {
		under.widen(&e, !o.Linear)
	}
	o.scale()(&p.Plot.Y, unit.Nanoseconds, e.low, e.high, 9)
	percentileAxis(&p.Plot.X, e.xhigh)
}

// numbered is the style of the i-th line: dashed once the colours begin again.
func numbered(i int) draw.LineStyle {
	l := line(colourOf(i))
	if i >= len(palette) {
		l.Dashes = dashed
	}
	return l
}

func percentileLegend(names []string, all []results.Distribution) (legend []Entry) {
	for i, name := range names {
		l := numbered(i)
		legend = append(legend, Entry{Text: name, Line: &l})
	}
	if floorOf(all) != nil {
		legend = append(legend, Entry{Text: floorText, Fill: floorColour})
	}
	if slices.ContainsFunc(all, func(d results.Distribution) bool { return !d.Used }) {
		legend = append(legend, voidEntry())
	}
	return legend
}

// percentileMarks are the distribution's steps: x is 1/(1−q), HdrHistogram's axis, y the value at q. The axis has no
// place for the maximum (q = 1), so it stands at the place of the last of n messages.
func percentileMarks(s hist.Snapshot, used bool) []mark {
	n := float64(s.Count())
	marks := []mark{{x: 1, y: float64(s.Min()), low: float64(s.Min()), high: float64(s.Min()), used: used}}
	// Fifty steps for every nine; void lines are single crosses and get fewer.
	per := 50.0
	if !used {
		per = 6
	}
	for k := 1.0; ; k++ {
		x := math.Pow(10, k/per)
		if x >= n {
			break
		}
		y := float64(s.Quantile(1 - 1/x))
		marks = append(marks, mark{x, y, y, y, used})
	}
	top := float64(s.Max())
	return append(marks, mark{math.Max(n, 1), top, top, top, used})
}

// lineName is the broker, with its load if it has several.
func lineName(d results.Distribution, all []results.Distribution) string {
	several := slices.ContainsFunc(all, func(o results.Distribution) bool {
		return o.Point.Name == d.Point.Name && o.RowTitle != d.RowTitle
	})
	if several {
		return d.Point.Name + ", " + d.RowTitle
	}
	return d.Point.Name
}

func lineNames(all []results.Distribution) []string {
	var names []string
	for _, d := range all {
		if name := lineName(d, all); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, results.CompareNames)
	return names
}
