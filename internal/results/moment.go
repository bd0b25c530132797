package results

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

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
	brokerMetered bool               // else BrokerCPU is 0 and not known
	hasLatency    bool               // else latencies are 0 or those of a closed loop, which are not shown
}

// Moments lists the samples of a repetition; none if it has no result.
func Moments(r store.Record) []Moment {
	if r.Result == nil {
		return nil
	}
	reports, metered, hasLatency := pipelineReports(r), brokerMetered(r), CourseHasLatency(r)
	var moments []Moment
	for _, t := range r.Result.Series {
		moments = append(moments, Moment{
			Tick: t, pipeline: nearestReport(reports, t.OffsetNs), brokerMetered: metered, hasLatency: hasLatency,
		})
	}
	return moments
}

// brokerMetered tells whether the processor time of the broker was metered: the record says so, or a sample has some.
func brokerMetered(r store.Record) bool {
	hasTime := func(t store.Tick) bool { return t.BrokerCPU > 0 }
	return r.Result.Cost.BrokerKnown || slices.ContainsFunc(r.Result.Series, hasTime)
}

// brokerCPU is in cores.
func (m Moment) brokerCPU() float64 {
	if !m.brokerMetered {
		return math.NaN()
	}
	return m.BrokerCPU
}

// latency is NaN for 0 ns, the latency of a sample in which nothing arrived.
func (m Moment) latency(ns int64) float64 {
	if !m.hasLatency || ns <= 0 {
		return math.NaN()
	}
	return float64(ns)
}

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
