// The figure "timeseries": what happened during one repetition of each point (a broker with its settings and load).
// Panels below each other show rates, backlog, latency and CPU, and share the time axis:
//
//	-5 s to 0       warm-up, grey
//	0 to 60 s       the measured phase
//	60 s to 70 s    drain, grey: nothing is sent, and consumers receive what is left
//
// A dashed vertical line stands where a fault was injected into a broker.

package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// maxRuns is how many repetitions one panel shows; more lines could not be told apart.
const maxRuns = 6

// Heights of a figure over time: of each panel, and around all of them.
const (
	coursePanelHeight = 5 * vg.Centimeter
	aroundCourse      = 1 * vg.Centimeter
)

// run is one repetition that is drawn. It has one colour in all panels.
type run struct {
	name   string       // of its point: product, setting and load
	record store.Record // as if nothing but that load had been measured
	colour color.RGBA
}

func (r run) ok() bool { return r.record.Status == store.OK }

func timeseries(points []results.Point, _ Options) (Figure, error) {
	runs := runsOf(points)
	if len(runs) == 0 {
		return Figure{}, nothing("none of the records holds a course over time")
	}
	if err := tooMany(len(runs), maxRuns, "courses over time"); err != nil {
		return Figure{}, err
	}
	contents := results.CoursePanels(lists.Map(runs, func(r run) store.Record { return r.record })...)
	var panels []*Panel
	for i, content := range contents {
		p := coursePanel(content, runs)
		for _, fault := range faultLines(runs) {
			if i > 0 { // the first panel has the texts
				fault.text = ""
			}
			p.Add(fault)
		}
		panels = append(panels, p)
	}
	panels[len(panels)-1].XLabel = "seconds since the start of the measured phase"
	f := ofPanels("Course over time", panels, 1, coursePanelHeight)
	f.Height += aroundCourse - aroundPanels
	f.Legend = courseLegend(runs, contents)
	f.Notes = courseNotes(runs)
	return f, nil
}

// runsOf picks a repetition of each point that has a course over time, under one of its loads: the first that ended ok, else the first
// of all. Of a curve it is the highest such rate, because a figure has no room for all of them.
func runsOf(points []results.Point) []run {
	var runs []run
	for _, p := range points {
		courses := coursesOf(slices.Concat(p.Ok(), p.Records))
		if len(courses) == 0 {
			continue
		}
		isOk := func(l results.RepetitionLoad) bool { return l.Record.Status == store.OK }
		drawn := courses[max(0, slices.IndexFunc(courses, isOk))]
		name := p.Name + ", " + p.Setting() + ", " + drawn.RowTitle
		runs = append(runs, run{name: name, record: drawn.Record, colour: colourOf(len(runs))})
	}
	return runs
}

// coursesOf lists the loads of repetitions that have a course over time, those of each repetition from the last to the first.
func coursesOf(repetitions []store.Record) []results.RepetitionLoad {
	loads := lists.Flat(repetitions, func(r store.Record) []results.RepetitionLoad {
		loads := results.Loads(r)
		slices.Reverse(loads)
		return loads
	})
	return lists.Filter(loads, func(l results.RepetitionLoad) bool { return l.Record.Result != nil && len(l.Record.Result.Series) > 0 })
}

// coursePanel draws the lines of all runs, above the time outside the measured phase in grey.
// Latencies stand on a logarithmic axis.
func coursePanel(content results.CoursePanel, runs []run) *Panel {
	p := newPanel("", "", content.Title)
	from, to := timeSpan(runs)
	for _, b := range unmeasured(runs, from, to) {
		p.Add(b)
	}
	yScaling, labels := linear, 4
	if content.Unit == unit.Nanoseconds {
		yScaling, labels = logarithmic, 6
	}
	e := newExtent(yScaling)
	for _, r := range runs {
		for _, t := range r.traces(content) {
			p.addTrace(t)
			e.addMarks(t.marks)
		}
	}
	setAxis(&p.Plot.Y, e.y, content.Unit, labels)
	p.Plot.X.Min, p.Plot.X.Max = from, to
	p.Plot.X.Tick.Marker = plot.TickerFunc(secondsTicks)
	return p
}

// traces returns the run's lines in a panel.
func (r run) traces(panel results.CoursePanel) []trace {
	moments := results.Moments(r.record)
	var traces []trace
	for i, l := range panel.Lines {
		t := trace{line: r.lineStyle(panel, i)}
		for _, m := range moments {
			t.marks = append(t.marks, exactMark(seconds(m.OffsetNs), l.At(m), r.ok()))
		}
		traces = append(traces, t)
	}
	return traces
}

// hasParts reports whether a panel has a line for each part of a pipeline: client, server, broker, consumer. Any other
// panel has one line or two, such as the rates published and received.
func hasParts(panel results.CoursePanel) bool {
	return slices.ContainsFunc(panel.Lines, func(l results.CourseLine) bool { return l.Part != "" })
}

// lineStyle returns the style of the i-th line of a panel. The first is solid and the second is dashed, both in the
// run's colour. Parts of a pipeline have colours of their own.
func (r run) lineStyle(panel results.CoursePanel, i int) draw.LineStyle {
	switch {
	case hasParts(panel):
		return line(partColour(i))
	case i == 0:
		return line(r.colour)
	}
	return lineDashed(r.colour, dashed)
}

// partColour returns the colour of the i-th part of a pipeline. Parts are drawn of a single run only, whose own colour
// is the first.
func partColour(i int) color.RGBA { return colourOf(1 + i) }

// courseLegend explains the colour of each run, solid and dashed lines, and the colour of each part of a pipeline.
func courseLegend(runs []run, panels []results.CoursePanel) []Entry {
	entries := lists.Map(runs, func(r run) Entry { return lineEntry(r.name, line(r.colour)) })
	var solidNames, dashedNames []string
	var parts []results.CourseLine // those of one panel: every panel of parts has all of them
	for _, p := range panels {
		if hasParts(p) {
			parts = p.Lines
		} else if len(p.Lines) == 2 { // a panel's title names a single line
			solidNames, dashedNames = lists.AddNew(solidNames, p.Lines[0].Name), lists.AddNew(dashedNames, p.Lines[1].Name)
		}
	}
	if solidNames != nil {
		entries = append(entries,
			lineEntry(strings.Join(solidNames, " · "), line(soft)),
			lineEntry(strings.Join(dashedNames, " · "), lineDashed(soft, dashed)))
	}
	entries = append(entries, Entry{Text: "warm-up and drain", Fill: shade})
	for i, l := range parts {
		entries = append(entries, lineEntry(l.Part, line(partColour(i))))
	}
	return entries
}

// courseNotes say which repetitions are drawn, by number and ending if any did not end ok.
func courseNotes(runs []run) []string {
	allOk := !slices.ContainsFunc(runs, func(r run) bool { return !r.ok() })
	if allOk {
		note := "One repetition of each."
		if slices.ContainsFunc(runs, func(r run) bool { return results.CourseHasLatency(r.record) }) {
			note += " A gap in latency means that nothing arrived."
		}
		return []string{note}
	}
	var notes []string
	for _, r := range runs {
		text := fmt.Sprintf("%s: repetition %d", r.name, r.record.Repetition)
		if !r.ok() {
			text += fmt.Sprintf(", %s: %s", r.record.Status, r.record.Reason)
		}
		notes = append(notes, text+".")
	}
	return notes
}

func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }

// timeSpan holds the start of the measured phase (0) and every sample, in seconds. It is never empty.
func timeSpan(runs []run) (from, to float64) {
	for _, r := range runs {
		for _, t := range r.record.Result.Series {
			from, to = min(from, seconds(t.OffsetNs)), max(to, seconds(t.OffsetNs))
		}
	}
	if to <= from {
		to = from + 1
	}
	return from, to
}

// unmeasured shades the warm-up, which ends at 0, and the time after the longest measured phase of all runs.
func unmeasured(runs []run, from, to float64) []band {
	end := 0.0 // of the longest measured phase
	for _, r := range runs {
		for _, p := range results.Phases(r.record) {
			if p.Name == "measure" {
				end = max(end, p.Until)
			}
		}
	}
	var bands []band
	if from < 0 {
		bands = append(bands, band{from: from, to: 0})
	}
	if end > 0 && end < to {
		bands = append(bands, band{from: end, to: to})
	}
	return bands
}

const (
	sameFault = 0.25 // seconds: equal faults of two runs that are closer were planned for the same moment, and have one line
	faultRows = 3    // texts of neighbours stand in different rows in turn, so that they don't overwrite each other
)

// faultLines mark the faults that were injected into the brokers, in the order of time.
func faultLines(runs []run) []verticalLine {
	var lines []verticalLine
	for _, r := range runs {
		for _, fault := range r.record.Result.Faults {
			v := verticalLine{x: seconds(fault.OffsetNs), text: fault.Do + " " + results.Struck(fault)}
			isSame := func(o verticalLine) bool { return o.text == v.text && math.Abs(o.x-v.x) < sameFault }
			if !slices.ContainsFunc(lines, isSame) {
				lines = append(lines, v)
			}
		}
	}
	slices.SortFunc(lines, func(a, b verticalLine) int { return cmp.Compare(a.x, b.x) })
	for i := range lines {
		lines[i].row = i % faultRows
	}
	return lines
}
