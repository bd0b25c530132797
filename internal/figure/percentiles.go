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

// maxLines is how many lines can be told apart: each of seven colours twice, solid and dashed.
const maxLines = 14

// percentiles draws a panel for each size and guarantee, and in it a line for each broker and load.
func percentiles(points []results.Point, o Options) (Figure, error) {
	kind, err := results.LatencyByName(o.Latency)
	if err != nil {
		return Figure{}, err
	}
	measured := results.Distributions(points, kind)
	drawn := slices.DeleteFunc(slices.Clone(measured), func(d results.Distribution) bool { return d.Closed })
	switch {
	case len(measured) == 0:
		return Figure{}, nothing("none of the records holds the latency %s", kind.Name)
	case len(drawn) == 0:
		return Figure{}, nothing("all of the records are of closed loops, whose latency says how full the window or the backlog was")
	}
	names := lineNames(drawn)
	if err := tooMany(len(names), maxLines, "lines"); err != nil {
		return Figure{}, err
	}
	f := Figure{Title: "Latency by percentile", Width: 18 * vg.Centimeter}
	var panels []*Panel
	for _, group := range results.BySetting(points) {
		var lines []percentileLine
		for _, d := range drawn {
			if d.Point.Setting() == group.Name {
				lines = append(lines, percentileLine{d, numbered(slices.Index(names, lineName(d, drawn)))})
			}
		}
		if len(lines) > 0 {
			p := panel(group.Name, "percentile (%)", kind.Text)
			drawPercentiles(p, lines, o)
			panels = append(panels, p)
		}
	}
	if err := tooMany(len(panels), maxPanels, "sizes and guarantees"); err != nil {
		return Figure{}, err
	}
	f.Panels = grid(panels, 2)
	f.Height = 2.6*vg.Centimeter + vg.Length(len(f.Panels))*8*vg.Centimeter
	f.Legend = percentileLegend(names, drawn)
	f.Notes = []string{"Histograms of all repetitions merged; a line ends where a single message decides. " + kindNote(kind)}
	return f, nil
}

// percentileLine is a distribution with the style of its line.
type percentileLine struct {
	results.Distribution
	style draw.LineStyle
}

// drawPercentiles puts lines into a panel, above the floor below which nothing is known.
func drawPercentiles(p *Panel, lines []percentileLine, o Options) {
	var all []results.Distribution
	for _, l := range lines {
		all = append(all, l.Distribution)
	}
	under := floorOf(all)
	if under != nil {
		p.Add(under) // below the lines
	}
	e := noExtent()
	for _, l := range lines {
		t := trace{marks: percentileMarks(l.Snapshot, l.Used), line: l.style}
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
	stepsPerNine := 50.0
	if !used { // a line of single crosses
		stepsPerNine = 6
	}
	at := func(x, y float64) mark { return mark{x: x, y: y, low: y, high: y, used: used} }
	n := float64(s.Count())
	marks := []mark{at(1, float64(s.Min()))}
	for k := 1.0; ; k++ {
		x := math.Pow(10, k/stepsPerNine)
		if x >= n {
			break
		}
		marks = append(marks, at(x, float64(s.Quantile(1-1/x))))
	}
	return append(marks, at(max(n, 1), float64(s.Max())))
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
