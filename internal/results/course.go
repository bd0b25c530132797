package results

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// CoursePanel is one part of a chart over time: a few lines of the same quantity. Pages and figures draw these panels below
// each other, with one time axis.
type CoursePanel struct {
	Title   string
	Unit    unit.Unit
	Lines   []CourseLine
	shownIf func(store.Record) bool // whether a repetition has data for it
}

// CourseLine is a line of a panel.
type CourseLine struct {
	Name string               // unique among all lines of a chart
	Part string               // name of the part of a pipeline that it shows; empty if it shows none
	At   func(Moment) float64 // the line's value at a moment, in the panel's unit; NaN if it is not known
}

// CoursePanels lists the panels for which any of the repetitions has data, in the order in which they are drawn. Parts of a
// pipeline have panels only if there is one repetition: the parts of several repetitions could not be distinguished.
func CoursePanels(repetitions ...store.Record) []CoursePanel {
	panels := slices.Clone(coursePanels)
	if len(repetitions) == 1 && isPipeline(repetitions[0]) {
		panels = append(panels, partPanels(repetitions[0].Result.Pipeline.Parts)...)
	}
	return slices.DeleteFunc(panels, func(p CoursePanel) bool { return !slices.ContainsFunc(repetitions, p.shownIf) })
}

// coursePanels are the panels for any repetition, without the parts of a pipeline.
var coursePanels = []CoursePanel{
	{Title: "messages/s", Unit: unit.PerSecond, shownIf: hasCourse, Lines: []CourseLine{
		{Name: "published", At: func(m Moment) float64 { return m.PublishRate }},
		{Name: "received", At: func(m Moment) float64 { return m.ReceiveRate }},
	}},
	{Title: "backlog (messages)", Unit: unit.Count, shownIf: hasCourse, Lines: []CourseLine{
		{Name: "backlog", At: func(m Moment) float64 { return float64(m.Backlog) }},
	}},
	{Title: "e2e latency", Unit: unit.Nanoseconds, shownIf: CourseHasLatency, Lines: []CourseLine{
		{Name: "e2e p50", At: func(m Moment) float64 { return m.latency(m.EndToEndP50) }},
		{Name: "e2e p99", At: func(m Moment) float64 { return m.latency(m.EndToEndP99) }},
	}},
	{Title: "CPU (cores)", Unit: unit.None, shownIf: hasCourse, Lines: []CourseLine{
		{Name: "broker CPU", At: Moment.brokerCPU},
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
		{Name: "waiting in the queue", At: func(m Moment) float64 { return orNaN(m.pipeline.Queue) }},
		{Name: "unacknowledged", At: func(m Moment) float64 { return orNaN(m.pipeline.Unacked) }},
	}},
	{Title: "through the queue (messages/s)", Unit: unit.PerSecond, shownIf: isPipeline, Lines: []CourseLine{
		{Name: "into the queue", At: func(m Moment) float64 { return orNaN(m.pipeline.PublishedRate) }},
		{Name: "out of the queue", At: func(m Moment) float64 { return orNaN(m.pipeline.DeliveredRate) }},
	}},
}

// partPanels have a line for each part of a pipeline.
func partPanels(parts []store.PipelinePart) []CoursePanel {
	cpu := CoursePanel{Title: "CPU of each part (cores)", Unit: unit.None, shownIf: isPipeline}
	memory := CoursePanel{Title: "memory of each part", Unit: unit.Bytes, shownIf: isPipeline}
	for i, p := range parts {
		cpu.Lines = append(cpu.Lines, CourseLine{
			Name: p.Name + ", CPU", Part: p.Name, At: func(m Moment) float64 { return indexOrNaN(m.pipeline.CPU, i) },
		})
		memory.Lines = append(memory.Lines, CourseLine{
			Name: p.Name + ", memory", Part: p.Name, At: func(m Moment) float64 { return indexOrNaN(m.pipeline.RSSBytes, i) },
		})
	}
	return []CoursePanel{cpu, memory}
}

// isPipeline reports whether a record has a course of a pipeline.
func isPipeline(r store.Record) bool {
	return r.Result != nil && r.Result.Pipeline != nil && len(r.Result.Pipeline.Series) > 0
}

// hasCourse reports whether a repetition was sampled over time.
func hasCourse(r store.Record) bool { return r.Result != nil && len(r.Result.Series) > 0 }

// CourseHasLatency reports whether latencies are shown over time. The consumer of a pipeline reports them only at the end, and
// those of a closed loop are left out.
func CourseHasLatency(r store.Record) bool {
	return hasCourse(r) && !isPipeline(r) && !r.Spec.ClosedLoop()
}

// indexOrNaN is the i-th value; NaN if there are fewer.
func indexOrNaN[N int64 | float64](values []N, i int) float64 {
	if i >= len(values) {
		return math.NaN()
	}
	return float64(values[i])
}

// hasSides reports whether the course of a record has figures of the generator's producers and consumers separately.
func hasSides(r store.Record) bool {
	return r.Result != nil && slices.ContainsFunc(r.Result.Series, func(t store.Tick) bool { return t.Sides != nil })
}

// side reads a figure of the sides. It is NaN before the meters were first read.
func side(figure func(*store.SidesTick) float64) func(Moment) float64 {
	return func(m Moment) float64 { return known(m.Sides, figure) }
}

// The names of phases, as samples have them. The third is the drain.
const (
	phaseWarmup   = "warmup"
	phaseMeasured = "measure"
)

// Phase is a phase of a repetition: warmup, measure or drain.
type Phase struct {
	Name  string
	Until float64 // seconds since the start of the measured phase
}

// Phases lists the phases in which a repetition was sampled. A phase ends between two samples: the warm-up at 0, and the measured
// phase after its length. Samples at −0.5 s (warmup) and 0.5 s (measure) of a phase of 10 s are "warmup until 0" and
// "measure until 10". The drain ends with its last sample.
func Phases(r store.Record) []Phase {
	if r.Result == nil {
		return nil
	}
	var phases []Phase
	for _, t := range r.Result.Series {
		until := float64(t.OffsetNs) / 1e9
		switch t.Phase {
		case phaseWarmup:
			until = 0
		case phaseMeasured:
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

// Moment is a sample of a repetition. A CourseLine reads figures from it, which are NaN where they are not known.
type Moment struct {
	store.Tick
	pipeline      store.PipelineTick // the sample of the pipeline that is nearest in time; empty if none is near
	brokerMetered bool               // if false, BrokerCPU is 0 and not known
	hasLatency    bool               // if false, latencies are 0 or those of a closed loop, which are not shown
}

// Moments lists the samples of a repetition; none if it has no result.
func Moments(r store.Record) []Moment {
	if r.Result == nil {
		return nil
	}
	reports, metered, hasLatency := pipelineReports(r), brokerMetered(r), CourseHasLatency(r)
	return lists.Map(r.Result.Series, func(t store.Tick) Moment {
		return Moment{Tick: t, pipeline: nearestReport(reports, t.OffsetNs), brokerMetered: metered, hasLatency: hasLatency}
	})
}

// brokerMetered reports whether the processor time of the broker was metered: the record says so, or a sample has some.
func brokerMetered(r store.Record) bool {
	hasTime := func(t store.Tick) bool { return t.BrokerCPU > 0 }
	return r.Result.Cost.BrokerKnown || slices.ContainsFunc(r.Result.Series, hasTime)
}

// brokerCPU is in cores.
func (m Moment) brokerCPU() float64 { return knownIf(m.brokerMetered, m.BrokerCPU) }

// latency is NaN for 0 ns, the latency of a sample in which nothing arrived.
func (m Moment) latency(ns int64) float64 { return knownIf(m.hasLatency && ns > 0, float64(ns)) }

// pipelineReports lists the samples of a pipeline's parts and of the broker's queue, with times from the start of the measured
// phase; records have them from the first request.
func pipelineReports(r store.Record) []store.PipelineTick {
	if r.Result.Pipeline == nil {
		return nil
	}
	reports := slices.Clone(r.Result.Pipeline.Series)
	for i := range reports {
		reports[i].OffsetNs -= int64(r.Result.WarmupSeconds * 1e9)
	}
	return reports
}

// nearestReport is the report that is nearest to a time; an empty one if none is within half a second. Reports are half a second
// apart, unless a broker that stands still doesn't answer.
func nearestReport(reports []store.PipelineTick, offsetNs int64) store.PipelineTick {
	const halfSecond = int64(5e8)
	var nearest store.PipelineTick
	least := halfSecond + 1
	for _, r := range reports {
		if apart := max(r.OffsetNs-offsetNs, offsetNs-r.OffsetNs); apart < least {
			nearest, least = r, apart
		}
	}
	return nearest
}
