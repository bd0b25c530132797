package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

const mostSeries = 6 // more lines in one panel can't be told apart

// timeseries draws its panels over one time axis, with one repetition of each point in them.
func timeseries(points []results.Point, _ Options) (Figure, error) {
	var names []string
	var runs []store.Record
	for _, p := range points {
		r, ok := withSeries(p)
		if !ok {
			continue
		}
		names = append(names, p.Name+", "+p.Setting()+", "+p.Load())
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return Figure{}, nothing("none of the records holds a course over time")
	}
	if err := tooMany(len(runs), mostSeries, "courses over time"); err != nil {
		return Figure{}, err
	}
	f := Figure{Title: "Course over time", Width: 18 * vg.Centimeter}
	shown := results.CoursePanels(runs...)
	f.Height = vg.Centimeter + vg.Length(len(shown))*5*vg.Centimeter
	for i, s := range shown {
		p := drawCourse(s, runs)
		for _, fault := range faultLines(runs, i == 0) {
			p.Add(fault)
		}
		f.Panels = append(f.Panels, []*Panel{p})
	}
	f.Panels[len(shown)-1][0].X = "seconds since the start of the measured phase" // the rates of every run are shown, so there is a panel
	for i, name := range names {
		l := line(colourOf(i))
		f.Legend = append(f.Legend, Entry{Text: name, Line: &l})
	}
	f.Legend = append(f.Legend, courseEntries(shown)...)
	if slices.ContainsFunc(runs, func(r store.Record) bool { return r.Status != store.OK }) {
		f.Legend = append(f.Legend, voidEntry())
	}
	f.Notes = notesOf(names, runs)
	return f, nil
}

// drawCourse draws one panel: the unmeasured phases in grey, and the lines of all runs. Latencies stand on a logarithmic axis.
func drawCourse(course results.CoursePanel, runs []store.Record) *Panel {
	p := panel("", "", course.Title)
	from, to := span(runs)
	for _, b := range phases(runs, from, to) {
		p.Add(b)
	}
	log, reach := course.Unit == unit.Nanoseconds, nowhere()
	for i, r := range runs {
		for _, t := range courseTraces(course, r, i) {
			reach.take(t.marks, log)
			p.Add(t)
		}
	}
	if log {
		logAxis(&p.Plot.Y, course.Unit, reach.low, reach.high, 6)
	} else {
		linearAxis(&p.Plot.Y, course.Unit, 0, reach.high, 4)
	}
	p.Plot.X.Min, p.Plot.X.Max = from, to
	p.Plot.X.Tick.Marker = plot.TickerFunc(plainTicks)
	return p
}

// withSeries is the first repetition that ended ok, else the first there is a course of.
func withSeries(p results.Point) (store.Record, bool) {
	for _, r := range append(p.Ok(), p.Records...) {
		if r.Result != nil && len(r.Result.Series) > 0 {
			return r, true
		}
	}
	return store.Record{}, false
}

// courseEntries say which quantity of the panels is drawn through, which with dashes, and which colour is which part of a
// pipeline. A line that is alone in its panel is named by that.
func courseEntries(panels []results.CoursePanel) (list []Entry) {
	var quantities [2][]string
	for _, p := range panels {
		for k, l := range p.Lines {
			style := line(colourOf(1 + k))
			switch {
			case l.Part == "" && len(p.Lines) > 1:
				quantities[k] = add(quantities[k], l.Name)
			case l.Part != "" && !slices.ContainsFunc(list, func(e Entry) bool { return e.Text == l.Part }):
				list = append(list, Entry{Text: l.Part, Line: &style})
			}
		}
	}
	through, broken := line(soft), lineDashed(soft, dashed)
	return append([]Entry{
		{Text: strings.Join(quantities[0], " · "), Line: &through},
		{Text: strings.Join(quantities[1], " · "), Line: &broken},
		{Text: "warm-up and drain", Fill: shade},
	}, list...)
}

// courseTraces are the lines of the i-th run in a panel; the second of a quantity is dashed, and parts of a pipeline have
// colours that no run has.
func courseTraces(p results.CoursePanel, r store.Record, i int) (traces []trace) {
	moments := results.Moments(r, results.Course(r))
	for k, l := range p.Lines {
		t := trace{line: line(colourOf(i))}
		switch {
		case l.Part != "":
			t.line = line(colourOf(1 + k))
		case k == 1:
			t.line.Dashes = dashed
		}
		for _, m := range moments {
			v := l.At(m)
			t.marks = append(t.marks, mark{float64(m.OffsetNs) / 1e9, v, v, v, r.Status == store.OK})
		}
		traces = append(traces, t)
	}
	return traces
}

// span holds every sample and the start of the measured phase.
func span(runs []store.Record) (from, to float64) {
	from, to = 0, math.Inf(-1)
	for _, r := range runs {
		for _, t := range r.Result.Series {
			from, to = math.Min(from, float64(t.OffsetNs)/1e9), math.Max(to, float64(t.OffsetNs)/1e9)
		}
	}
	if to <= from {
		to = from + 1
	}
	return from, to
}

// phases shades the time outside the measured phase of every run.
func phases(runs []store.Record, from, to float64) []band {
	end := 0.0
	for _, r := range runs {
		for _, p := range results.Phases(r, r.Result.Series) {
			if p.Name == "measure" {
				end = math.Max(end, p.Until)
			}
		}
	}
	var bands []band
	if from < 0 {
		bands = append(bands, band{from, 0, shade})
	}
	if end > 0 && end < to {
		bands = append(bands, band{end, to, shade})
	}
	return bands
}

// faultLines mark the faults that were done to the brokers, each once. Their words stand in one panel only.
func faultLines(runs []store.Record, words bool) []upright {
	var lines []upright
	for _, r := range runs {
		for _, fault := range r.Result.Faults {
			u := upright{at: float64(fault.OffsetNs) / 1e9, text: fault.Do + " " + results.Struck(fault), colour: ink}
			same := func(o upright) bool { return o.text == u.text && math.Abs(o.at-u.at) < 0.25 }
			if !slices.ContainsFunc(lines, same) {
				lines = append(lines, u)
			}
		}
	}
	slices.SortFunc(lines, func(a, b upright) int { return cmp.Compare(a.at, b.at) })
	for i := range lines {
		lines[i].lower = i % 3
		if !words {
			lines[i].text = ""
		}
	}
	return lines
}

func notesOf(names []string, runs []store.Record) []string {
	var notes []string
	for i, r := range runs {
		text := fmt.Sprintf("%s: repetition %d", names[i], r.Repetition)
		if r.Status != store.OK {
			text += fmt.Sprintf(", %s: %s", r.Status, r.Reason)
		}
		notes = append(notes, text+".")
	}
	if slices.ContainsFunc(runs, func(r store.Record) bool { return r.Status != store.OK }) {
		return notes
	}
	if slices.ContainsFunc(runs, results.CourseHasLatency) {
		return []string{"One repetition of each. A gap in latency means that nothing arrived."}
	}
	return []string{"One repetition of each."}
}
