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
	if !r.Spec.ClosedLoop() {
		return r.Result.Series
	}
	ticks := slices.Clone(r.Result.Series)
	for i := range ticks {
		ticks[i].EndToEndP50, ticks[i].EndToEndP99 = 0, 0 // as if nothing had arrived
	}
	return ticks
}

// Phase is a phase of a repetition: warmup, measure or drain.
type Phase struct {
	Name  string
	Until float64 // seconds since the start of the measured phase
}

// Phases lists the phases that ticks of r lie in. A phase ends between two ticks: the warm-up when the measured phase begins, and the
// measured phase after its length. Ticks at −0.5 s (warmup) and 0.5 s (measure) of a phase of 10 s are the phases "warmup until 0" and
// "measure until 10".
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

// Moment is the state of a repetition at one time: a tick, with what the parts of a pipeline reported then.
type Moment struct {
	store.Tick                    // its BrokerCPU is NaN if the broker was not metered
	Pipeline   store.PipelineTick // the report that is nearest in time; empty if none is near
}

// Moments are the moments of ticks of r, in their order.
func Moments(r store.Record, ticks []store.Tick) []Moment {
	reports, metered := pipelineCourse(r), brokerMetered(r)
	moments := make([]Moment, len(ticks))
	for i, t := range ticks {
		if !metered {
			t.BrokerCPU = math.NaN()
		}
		moments[i] = Moment{Tick: t, Pipeline: reportNear(reports, t.OffsetNs)}
	}
	return moments
}

// brokerMetered tells whether the processor time of the broker was metered at any tick. A tick has 0 if it was not.
func brokerMetered(r store.Record) bool {
	hasTime := func(t store.Tick) bool { return t.BrokerCPU > 0 }
	return r.Result != nil && (r.Result.Cost.BrokerKnown || slices.ContainsFunc(r.Result.Series, hasTime))
}

// CoursePanel is one part of a chart over time: a few lines of the same quantity. Pages and figures draw these panels below each other,
// with one time axis.
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
	At   func(Moment) float64 // the line's value at a moment, in the panel's unit; NaN if it is not known
}

// CoursePanels lists the panels that any of the repetitions has something to show in, in the order in which they are drawn. Parts of a
// pipeline have panels only if there is one repetition: the parts of several could not be told apart.
func CoursePanels(repetitions ...store.Record) []CoursePanel {
	panels := slices.Clone(coursePanels)
	if len(repetitions) == 1 && isPipeline(repetitions[0]) {
		panels = append(panels, partPanels(repetitions[0].Result.Pipeline.Parts)...)
	}
	return slices.DeleteFunc(panels, func(p CoursePanel) bool { return !slices.ContainsFunc(repetitions, p.shownIf) })
}

var coursePanels = []CoursePanel{
	{Title: "messages/s", Unit: unit.PerSecond, shownIf: hasCourse, Lines: []CourseLine{
		{Name: "published", At: func(m Moment) float64 { return m.PublishRate }},
		{Name: "received", At: func(m Moment) float64 { return m.ReceiveRate }},
	}},
	{Title: "backlog (messages)", Unit: unit.Count, shownIf: hasCourse, Lines: []CourseLine{
		{Name: "backlog", At: func(m Moment) float64 { return float64(m.Backlog) }},
	}},
	{Title: "e2e latency", Unit: unit.Nanoseconds, shownIf: CourseHasLatency, Lines: []CourseLine{
		{Name: "e2e p50", At: func(m Moment) float64 { return latencyOrNaN(m.EndToEndP50) }},
		{Name: "e2e p99", At: func(m Moment) float64 { return latencyOrNaN(m.EndToEndP99) }},
	}},
	{Title: "CPU (cores)", Unit: unit.None, shownIf: hasCourse, Lines: []CourseLine{
		{Name: "broker CPU", At: func(m Moment) float64 { return m.BrokerCPU }},
		{Name: "generator CPU", At: func(m Moment) float64 { return m.GeneratorCPU }},
	}},
	{Title: "CPU of each side (cores)", Unit: unit.None, shownIf: hasSides, Lines: []CourseLine{
		{Name: "producing CPU", At: side(func(s *store.SidesTick) float64 { return s.Producing.User + s.Producing.System })},
		{Name: "consuming CPU", At: side(func(s *store.SidesTick) float64 { return s.Consuming.User + s.Consuming.System })},
	}},
	{Title: "memory of each side", Unit: unit.Bytes, shownIf: hasSides, Lines: []CourseLine{
		{Name: "producing memory", At: side(func(s *store.SidesTick) float64 { return float64(s.Producing.RSSBytes) })},
		{Name: "consuming memory", At: side(func(s *store.SidesTick) float64 { return float64(s.Consuming.RSSBytes) })},
	}},
	{Title: "queue (messages)", Unit: unit.Count, shownIf: isPipeline, Lines: []CourseLine{
		{Name: "waiting in the queue", At: func(m Moment) float64 { return orNaN(m.Pipeline.Queue) }},
		{Name: "unacknowledged", At: func(m Moment) float64 { return orNaN(m.Pipeline.Unacked) }},
	}},
	{Title: "through the queue (messages/s)", Unit: unit.PerSecond, shownIf: isPipeline, Lines: []CourseLine{
		{Name: "into the queue", At: func(m Moment) float64 { return orNaN(m.Pipeline.PublishedRate) }},
		{Name: "out of the queue", At: func(m Moment) float64 { return orNaN(m.Pipeline.DeliveredRate) }},
	}},
}

// partPanels have a line for each part of a pipeline.
func partPanels(parts []store.PipelinePart) []CoursePanel {
	cpu := CoursePanel{Title: "CPU of each part (cores)", Unit: unit.None, shownIf: isPipeline}
	memory := CoursePanel{Title: "memory of each part", Unit: unit.Bytes, shownIf: isPipeline}
	for i, p := range parts {
		cpu.Lines = append(cpu.Lines, CourseLine{
			Name: p.Name + ", CPU", Part: p.Name, At: func(m Moment) float64 { return indexOrNaN(m.Pipeline.CPU, i) },
		})
		memory.Lines = append(memory.Lines, CourseLine{
			Name: p.Name + ", memory", Part: p.Name, At: func(m Moment) float64 { return indexOrNaN(m.Pipeline.RSSBytes, i) },
		})
	}
	return []CoursePanel{cpu, memory}
}

func hasCourse(r store.Record) bool { return r.Result != nil && len(r.Result.Series) > 0 }

// CourseHasLatency tells whether latencies are shown over time. The consumer of a pipeline reports them only at the end, and those of
// a closed loop are left out.
func CourseHasLatency(r store.Record) bool {
	return hasCourse(r) && !isPipeline(r) && !r.Spec.ClosedLoop()
}

// latencyOrNaN turns the 0 of a moment in which nothing arrived into a gap.
func latencyOrNaN(ns int64) float64 {
	if ns <= 0 {
		return math.NaN()
	}
	return float64(ns)
}

// indexOrNaN is the i-th value; NaN if a report is too short to have it, as an empty one.
func indexOrNaN[N int64 | float64](values []N, i int) float64 {
	if i >= len(values) {
		return math.NaN()
	}
	return float64(values[i])
}

// hasSides tells whether the course of a record has figures of each side of the generator, its producers and its consumers.
func hasSides(r store.Record) bool {
	return r.Result != nil && slices.ContainsFunc(r.Result.Series, func(t store.Tick) bool { return t.Sides != nil })
}

// side reads a figure of the sides. It is NaN before the meters were first read.
func side(figure func(*store.SidesTick) float64) func(Moment) float64 {
	return func(m Moment) float64 { return figureOrNaN(m.Sides, figure) }
}
