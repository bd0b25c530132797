package results

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Course lists what was measured in a repetition over time, tick by tick. The caller must not change it. The latency of a closed
// loop is left out: producers that wait for an answer before they send again make it themselves.
func Course(r store.Record) []store.Tick {
	if r.Result == nil {
		return nil
	}
	if !ClosedLoop(r.Spec) {
		return r.Result.Series
	}
	ticks := slices.Clone(r.Result.Series)
	for i := range ticks {
		ticks[i].EndToEndP50, ticks[i].EndToEndP99 = 0, 0
	}
	return ticks
}

// Phase is a phase of a repetition: warmup, measure or drain.
type Phase struct {
	Name  string
	Until float64 // seconds since the start of the measured phase
}

// Phases lists the phases that ticks of r lie in. A phase ends between two ticks: the warm-up when the measured phase begins, and the
// measured phase after its length.
func Phases(r store.Record, ticks []store.Tick) []Phase {
	var phases []Phase
	for _, t := range ticks {
		until := float64(t.OffsetNs) / 1e9
		switch t.Phase {
		case "warmup":
			until = 0
		case "measure":
			until = max(until, r.Result.Seconds)
		}
		if n := len(phases); n > 0 && phases[n-1].Name == t.Phase {
			phases[n-1].Until = until
		} else {
			phases = append(phases, Phase{Name: t.Phase, Until: until})
		}
	}
	return phases
}

// Moment is the state of a repetition at one time: a tick, with what the broker and the parts of a pipeline reported then.
type Moment struct {
	store.Tick
	Look        store.PipelineTick // the report on a pipeline that is nearest in time; empty if none is near
	brokerKnown bool               // the broker's processes were metered
}

// Moments are the moments of ticks of r.
func Moments(r store.Record, ticks []store.Tick) []Moment {
	looks, metered := pipelineCourse(r), brokerMetered(r)
	moments := make([]Moment, 0, len(ticks))
	for _, t := range ticks {
		moments = append(moments, Moment{Tick: t, Look: lookAt(looks, t.OffsetNs), brokerKnown: metered})
	}
	return moments
}

// brokerMetered tells whether the processor time of the broker was metered at any tick. A tick has 0 if it was not.
func brokerMetered(r store.Record) bool {
	return r.Result != nil && (r.Result.Cost.BrokerKnown || slices.ContainsFunc(r.Result.Series, func(t store.Tick) bool { return t.BrokerCPU > 0 }))
}

// CoursePanel is one part of a chart over time: a few lines of the same quantity. Pages and figures draw these panels.
type CoursePanel struct {
	Title   string
	Unit    unit.Unit
	Lines   []CourseLine
	shownIf func(store.Record) bool // whether a repetition has anything to show in it
}

// CourseLine is a line of a panel.
type CourseLine struct {
	Name string               // tells it from all other lines of a chart
	Part string               // the part of a pipeline that it shows; empty if it shows none
	At   func(Moment) float64 // the line's value at a moment; NaN if it is not known
}

// CoursePanels lists the panels that any of the runs has something to show in, in the order in which they are drawn. Parts of a
// pipeline have panels only if there is one run: the parts of several could not be told apart.
func CoursePanels(runs ...store.Record) []CoursePanel {
	panels := slices.Clone(coursePanels)
	if len(runs) == 1 && isPipeline(runs[0]) {
		panels = append(panels, partPanels(runs[0].Result.Pipeline.Parts)...)
	}
	return slices.DeleteFunc(panels, func(p CoursePanel) bool { return !slices.ContainsFunc(runs, p.shownIf) })
}

var coursePanels = []CoursePanel{
	{Title: "messages/s", Unit: unit.PerSecond, shownIf: always, Lines: []CourseLine{
		{Name: "published", At: func(m Moment) float64 { return m.PublishRate }},
		{Name: "received", At: func(m Moment) float64 { return m.ReceiveRate }},
	}},
	{Title: "backlog (messages)", Unit: unit.Count, shownIf: always, Lines: []CourseLine{
		{Name: "backlog", At: func(m Moment) float64 { return float64(m.Backlog) }},
	}},
	{Title: "e2e latency", Unit: unit.Nanoseconds, shownIf: CourseHasLatency, Lines: []CourseLine{
		{Name: "e2e p50", At: func(m Moment) float64 { return latencyOrNaN(m.EndToEndP50) }},
		{Name: "e2e p99", At: func(m Moment) float64 { return latencyOrNaN(m.EndToEndP99) }},
	}},
	{Title: "CPU (cores)", Unit: unit.None, shownIf: always, Lines: []CourseLine{
		{Name: "broker CPU", At: Moment.brokerCores},
		{Name: "generator CPU", At: func(m Moment) float64 { return m.GeneratorCPU }},
	}},
	{Title: "CPU of each side (cores)", Unit: unit.None, shownIf: hasSides, Lines: []CourseLine{
		{Name: "producing CPU", At: side(func(s store.SidesTick) float64 { return s.Producing.User + s.Producing.System })},
		{Name: "consuming CPU", At: side(func(s store.SidesTick) float64 { return s.Consuming.User + s.Consuming.System })},
	}},
	{Title: "memory of each side", Unit: unit.Bytes, shownIf: hasSides, Lines: []CourseLine{
		{Name: "producing memory", At: side(func(s store.SidesTick) float64 { return float64(s.Producing.RSSBytes) })},
		{Name: "consuming memory", At: side(func(s store.SidesTick) float64 { return float64(s.Consuming.RSSBytes) })},
	}},
	{Title: "queue (messages)", Unit: unit.Count, shownIf: isPipeline, Lines: []CourseLine{
		{Name: "waiting in the queue", At: func(m Moment) float64 { return orNaN(m.Look.Queue) }},
		{Name: "unacknowledged", At: func(m Moment) float64 { return orNaN(m.Look.Unacked) }},
	}},
	{Title: "through the queue (messages/s)", Unit: unit.PerSecond, shownIf: isPipeline, Lines: []CourseLine{
		{Name: "into the queue", At: func(m Moment) float64 { return orNaN(m.Look.PublishedRate) }},
		{Name: "out of the queue", At: func(m Moment) float64 { return orNaN(m.Look.DeliveredRate) }},
	}},
}

// partPanels have a line for each part of a pipeline.
func partPanels(parts []store.PipelinePart) []CoursePanel {
	cpu := CoursePanel{Title: "CPU of each part (cores)", Unit: unit.None, shownIf: isPipeline}
	memory := CoursePanel{Title: "memory of each part", Unit: unit.Bytes, shownIf: isPipeline}
	for i, p := range parts {
		cpu.Lines = append(cpu.Lines, CourseLine{
			Name: p.Name + ", CPU", Part: p.Name, At: func(m Moment) float64 { return indexOrNaN(m.Look.CPU, i) },
		})
		memory.Lines = append(memory.Lines, CourseLine{
			Name: p.Name + ", memory", Part: p.Name, At: func(m Moment) float64 { return indexOrNaN(m.Look.RSSBytes, i) },
		})
	}
	return []CoursePanel{cpu, memory}
}

func always(store.Record) bool { return true }

// CourseHasLatency tells whether latencies are shown over time. The consumer of a pipeline reports them only at the end, and those of
// a closed loop are left out.
func CourseHasLatency(r store.Record) bool { return !isPipeline(r) && !ClosedLoop(r.Spec) }

func (m Moment) brokerCores() float64 {
	if !m.brokerKnown {
		return math.NaN()
	}
	return m.BrokerCPU
}

// latencyOrNaN turns the 0 of a moment in which nothing arrived into a gap.
func latencyOrNaN(ns int64) float64 {
	if ns <= 0 {
		return math.NaN()
	}
	return float64(ns)
}

func indexOrNaN[N int64 | float64](values []N, i int) float64 {
	if i >= len(values) {
		return math.NaN()
	}
	return float64(values[i])
}
