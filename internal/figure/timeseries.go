package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

const mostSeries = 6

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
	f := Figure{Title: "Course over time", Width: 18 * vg.Centimeter, Height: 21 * vg.Centimeter}
	from, to := span(runs)
	shown := coursesOf(runs)
	f.Height += vg.Length(len(shown)-len(courses)) * 5 * vg.Centimeter
	for i, s := range shown {
		p := panel("", "", s.name)
		if i == len(shown)-1 {
			p.X = "seconds since the start of the measured phase"
		}
		e := nowhere()
		for _, b := range phases(runs, from, to) {
			p.Add(b)
		}
		for j, r := range runs {
			for _, t := range s.traces(r, j) {
				e.take(t.marks, s.log)
				p.Add(t)
			}
		}
		if s.log {
			logAxis(&p.Plot.Y, s.unit, e.low, e.high, 6)
		} else {
			linearAxis(&p.Plot.Y, s.unit, 0, e.high, 4)
		}
		p.Plot.X.Min, p.Plot.X.Max = from, to
		p.Plot.X.Tick.Marker = plot.TickerFunc(plainTicks)
		for _, u := range faultLines(runs, i == 0) {
			p.Add(u)
		}
		f.Panels = append(f.Panels, []*Panel{p})
	}
	for i, name := range names {
		l := line(colourOf(i))
		f.Legend = append(f.Legend, Entry{Text: name, Line: &l})
	}
	f.Legend = append(f.Legend, lineEntries(shown)...)
	f.Legend = append(f.Legend, Entry{Text: "warm-up and drain", Fill: shade})
	f.Legend = append(f.Legend, partEntries(runs)...)
	if slices.ContainsFunc(runs, func(r store.Record) bool { return r.Status != store.OK }) {
		f.Legend = append(f.Legend, voidEntry())
	}
	f.Notes = notesOf(names, runs)
	return f, nil
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

// course is what one panel shows of a run: up to two lines of the same quantity, the second one dashed.
type course struct {
	name string
	unit unit.Unit
	log  bool
	keys [2]string                   // what the legend calls the lines; empty: the panel's name says it
	of   [2]func(store.Tick) float64 // nil: there is only one
	// lines, where set, draws instead what ticks don't hold, of the i-th run.
	lines func(r store.Record, i int) []trace
}

const latencyPanel = "e2e latency"

var courses = []course{
	{name: "messages/s", unit: unit.PerSecond, keys: [2]string{"confirmed", "received"}, of: [2]func(store.Tick) float64{
		func(t store.Tick) float64 { return t.PublishRate },
		func(t store.Tick) float64 { return t.ReceiveRate },
	}},
	{name: "backlog (messages)", unit: unit.Count, of: [2]func(store.Tick) float64{func(t store.Tick) float64 { return float64(t.Backlog) }}},
	{name: latencyPanel, unit: unit.Nanoseconds, log: true, keys: [2]string{"p50", "p99"}, of: [2]func(store.Tick) float64{
		func(t store.Tick) float64 { return known(t.EndToEndP50) },
		func(t store.Tick) float64 { return known(t.EndToEndP99) },
	}},
	{name: "CPU (cores)", unit: unit.None, keys: [2]string{"broker", "generator"}, of: [2]func(store.Tick) float64{
		func(t store.Tick) float64 { return t.BrokerCPU },
		func(t store.Tick) float64 { return t.GeneratorCPU },
	}},
}

// sides are panels for runs whose consumers had a process of their own.
var sides = []course{
	{name: "CPU of each side (cores)", unit: unit.None, keys: [2]string{"producing", "consuming"}, of: [2]func(store.Tick) float64{
		func(t store.Tick) float64 { p := results.SidesAt(t).Producing; return p.User + p.System },
		func(t store.Tick) float64 { c := results.SidesAt(t).Consuming; return c.User + c.System },
	}},
	{name: "memory of each side", unit: unit.Bytes, keys: [2]string{"producing", "consuming"}, of: [2]func(store.Tick) float64{
		func(t store.Tick) float64 { return float64(results.SidesAt(t).Producing.RSSBytes) },
		func(t store.Tick) float64 { return float64(results.SidesAt(t).Consuming.RSSBytes) },
	}},
}

// hasLatency tells that latencies are known over time: the consumer of a pipeline tells them at the end.
func hasLatency(r store.Record) bool { return !isPipeline(r) }

// coursesOf are the panels that these runs fill.
func coursesOf(runs []store.Record) []course {
	shown := slices.Clone(courses)
	if !slices.ContainsFunc(runs, hasLatency) {
		shown = slices.DeleteFunc(shown, func(c course) bool { return c.name == latencyPanel })
	}
	if slices.ContainsFunc(runs, results.HasSides) {
		shown = append(shown, sides...)
	}
	return append(shown, pipelinePanels(runs)...)
}

// lineEntries say which quantity of the panels is drawn through and which with dashes.
func lineEntries(shown []course) (list []Entry) {
	for k, l := range []draw.LineStyle{line(soft), lineDashed(soft, dashed)} {
		var keys []string
		for _, c := range shown {
			if key := c.keys[k]; key != "" && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		list = append(list, Entry{Text: strings.Join(keys, " · "), Line: &l})
	}
	return list
}

// known turns the 0 of a moment in which nothing arrived into a gap.
func known(ns int64) float64 {
	if ns <= 0 {
		return math.NaN()
	}
	return float64(ns)
}

func (s course) traces(r store.Record, i int) []trace {
	if s.lines != nil {
		return s.lines(r, i)
	}
	var traces []trace
	for k, of := range s.of {
		if of == nil {
			continue
		}
		t := trace{line: line(colourOf(i))}
		if k == 1 {
			t.line.Dashes = dashed
		}
		for _, tick := range results.Course(r) {
			v := of(tick)
			t.marks = append(t.marks, mark{float64(tick.OffsetNs) / 1e9, v, v, v, r.Status == store.OK})
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

// phases shades what lies outside the measured phase of every run.
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

// faultLines mark what was done to the brokers, each once; the words stand in one panel only.
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
	if slices.ContainsFunc(runs, hasLatency) {
		return []string{"One repetition of each. A gap in latency means that nothing arrived."}
	}
	return []string{"One repetition of each."}
}
