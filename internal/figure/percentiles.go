package figure

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// maxLines is how many lines can be told apart: each colour twice, solid and dashed.
var maxLines = 2 * len(palette)

// A line has this many marks from one nine to the next, as from 99 % to 99.9 %.
const (
	stepsPerNine      = 50 // looks like a curve
	crossStepsPerNine = 6  // of a distribution that isn't used: each mark is a cross, which must not overlap the next
)

// percentiles draws latency by percentile: a panel for each size and guarantee, and in it a line for each broker and
// load. The x axis is HdrHistogram's (see nines): from 90 to 99 % is as far as from 99 to 99.9 %.
func percentiles(points []results.Point, o Options) (Figure, error) {
	kind, err := results.LatencyByName(o.Latency)
	if err != nil {
		return Figure{}, err
	}
	measured := results.Distributions(points, kind)
	if len(measured) == 0 {
		return Figure{}, nothing("none of the records holds the latency %s", kind.Name)
	}
	drawn := slices.DeleteFunc(measured, func(d results.Distribution) bool { return d.Closed })
	if len(drawn) == 0 {
		return Figure{}, nothing("all of the records are of closed loops, whose latency says how full the window or the backlog was")
	}
	names := lineNames(drawn)
	if err := tooMany(len(names), maxLines, "lines"); err != nil {
		return Figure{}, err
	}
	groups := results.GroupBy(drawn, func(d results.Distribution) string { return d.Point.Setting() })
	if err := tooMany(len(groups), maxPanels, "sizes and guarantees"); err != nil {
		return Figure{}, err
	}
	styleOf := func(d results.Distribution) draw.LineStyle {
		return percentileLine(slices.Index(names, lineName(d, drawn)))
	}
	panels := lists.Map(groups, func(group results.Group[results.Distribution]) *Panel {
		return percentilePanel(group, kind, styleOf, o.scaling())
	})
	f := ofPanels("Latency by percentile", panels, 2, latencyPanel)
	for i, name := range names {
		f.Legend = append(f.Legend, lineEntry(name, percentileLine(i)))
	}
	if floorOf(drawn) != nil {
		f.Legend = append(f.Legend, Entry{Text: floorText, Fill: floorColour})
	}
	f.Notes = []string{"Histograms of all repetitions merged; a line ends where a single message decides, and with an arrow where more messages never came. " + latencyNote(kind)}
	f.Notes = append(f.Notes, withoutFigure(points, func(l results.LoadPoint) bool { return !l.Closed && l.Distribution(kind).N > 0 })...)
	return f, nil
}

// percentilePanel draws a line for each distribution of one size and guarantee, above the floor of their machines.
func percentilePanel(
	group results.Group[results.Distribution], kind results.LatencyKind, styleOf func(results.Distribution) draw.LineStyle, y scaling,
) *Panel {
	p := newPanel(group.Name, "percentile (%)", kind.Text)
	e := newExtent(y)
	below := floorOf(group.Members)
	if below != nil {
		p.Add(below)
	}
	for _, d := range group.Members {
		marks := percentileMarks(d.Latencies, d.Used)
		p.addTrace(trace{marks: marks, line: styleOf(d)})
		e.addMarks(marks)
	}
	if below != nil {
		below.widen(&e.y)
	}
	setAxis(&p.Plot.Y, e.y, unit.Nanoseconds, maxLatencyLabels)
	setPercentiles(&p.Plot.X, e.x.high)
	return p
}

// percentileMarks returns the marks of a distribution, from its minimum to its maximum. The maximum is the quantile 1,
// which would stand at infinity. Of n messages it stands at the place n instead: of 1000 messages at 99.9 %, beyond
// which only one lies. Where more messages never came, the marks end with one that has no upper bound.
func percentileMarks(latencies hist.Snapshot, used bool) []mark {
	steps := float64(stepsPerNine)
	if !used {
		steps = crossStepsPerNine
	}
	end := max(float64(latencies.Count()), 1)
	marks := []mark{exactMark(nines(0), float64(latencies.Min()), used)}
	for step := 1.0; ; step++ {
		place := math.Pow(10, step/steps)
		if place >= end {
			last := exactMark(end, float64(latencies.Max()), used)
			if latencies.Censored() > 0 {
				last.high = math.Inf(1)
			}
			return append(marks, last)
		}
		y := float64(latencies.Quantile(quantileAt(place)))
		if latencies.QuantileAtMost(quantileAt(place)) == hist.Unbounded {
			return append(marks, mark{x: place, y: y, low: y, high: math.Inf(1), used: used})
		}
		marks = append(marks, exactMark(place, y, used))
	}
}

// percentileLine returns the style of the i-th line, which is dashed once the colours repeat.
func percentileLine(i int) draw.LineStyle {
	if i >= len(palette) {
		return lineDashed(colourOf(i), dashed)
	}
	return line(colourOf(i))
}

// lineName returns the broker of a distribution, with the load if the broker has several: "kafka" or "kafka, curve 1k/s".
func lineName(d results.Distribution, all []results.Distribution) string {
	otherLoad := func(o results.Distribution) bool { return o.Point.Name == d.Point.Name && o.RowTitle != d.RowTitle }
	if slices.ContainsFunc(all, otherLoad) {
		return d.Point.Name + ", " + d.RowTitle
	}
	return d.Point.Name
}

// lineNames returns the names of all lines, each once, in order.
func lineNames(all []results.Distribution) []string {
	names := lists.AddNew(nil, lists.Map(all, func(d results.Distribution) string { return lineName(d, all) })...)
	slices.SortFunc(names, results.CompareNames)
	return names
}

// nines returns the place of the quantile q on HdrHistogram's axis, on which every further nine takes equal room: 1 for
// the minimum (0), 2 for the median (0.5), 10 for 90 %, 100 for 99 %.
func nines(q float64) float64 { return 1 / (1 - q) }

// quantileAt returns the quantile at a place on HdrHistogram's axis: 0.99 at 100.
func quantileAt(place float64) float64 { return 1 - 1/place }

// setPercentiles makes HdrHistogram's axis, from the minimum to the place end.
func setPercentiles(a *plot.Axis, end float64) {
	const roomForMedian = 1e6 // the end up to which there is room for the label of the median
	a.Min, a.Max = nines(0), max(end, nines(0.9))
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(_, high float64) []plot.Tick {
		median := "50"
		if high > roomForMedian {
			median = ""
		}
		ticks := []plot.Tick{
			{Value: nines(0), Label: "0"}, {Value: nines(0.5), Label: median}, {Value: nines(0.75)}, {Value: nines(0.9), Label: "90"},
		}
		const rounding = 1e-4 // a tick at the very end of the axis stays on it
		for n := 2; math.Pow10(n) <= high*(1+rounding); n++ {
			label := "99." + strings.Repeat("9", n-2)
			ticks = append(ticks, plot.Tick{Value: math.Pow10(n), Label: strings.TrimSuffix(label, ".")})
		}
		return ticks
	})
}
