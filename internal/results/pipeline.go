package results

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// pipelineMetrics are the metrics of an application around the broker. Response times count from the sending of a request. They are
// given for closed loops as well, because they are what clients of the application saw.
var pipelineMetrics = []Metric{
	{Key: KeyResponseMin, Name: "response min", Head: "response\nmin", Unit: unit.Nanoseconds, Better: Lower, Of: response(func(s hist.Snapshot) float64 { return float64(s.Min()) })},
	{Key: KeyResponseMean, Name: "response mean", Head: "response\nmean", Unit: unit.Nanoseconds, Better: Lower, Of: response(hist.Snapshot.Mean)},
	{Key: KeyResponseP50, Name: "response p50", Head: "response\np50", Unit: unit.Nanoseconds, Better: Lower, Of: response(func(s hist.Snapshot) float64 { return float64(s.Quantile(0.5)) })},
	{Key: KeyResponseP99, Name: "response p99", Head: "response\np99", Unit: unit.Nanoseconds, Better: Lower, Of: response(func(s hist.Snapshot) float64 { return float64(s.Quantile(0.99)) })},
	{Key: KeyResponseMax, Name: "response max", Head: "response\nmax", Unit: unit.Nanoseconds, Better: Lower, Of: response(func(s hist.Snapshot) float64 { return float64(s.Max()) })},
	{Key: KeyQueueMax, Name: "longest queue", Head: "longest\nqueue", Unit: unit.None, Better: Lower, Of: fromPipeline(func(p *store.Pipeline) float64 {
		if p.QueueMax == nil {
			return math.NaN()
		}
		return float64(*p.QueueMax)
	})},
	{Key: KeyServerCPUPerRequest, Name: "server CPU, µs per request", Head: "server CPU\nµs/request", Unit: unit.None, Better: Lower, Of: fromResult(func(r *store.Result) float64 {
		if r.Pipeline == nil || r.Books.Sent == 0 {
			return math.NaN()
		}
		server, _ := r.Pipeline.Part("server")
		return (server.UserSeconds + server.SystemSeconds) * 1e6 / float64(r.Books.Sent)
	})},
	{Key: KeyConsumerCPUMax, Name: "consumer CPU at most, % of a core", Head: "consumer\nCPU, max %", Unit: unit.None, Better: Lower, Of: fromPipeline(func(p *store.Pipeline) float64 {
		consumer, _ := p.Part("consumer")
		return 100 * consumer.PeakCPU
	})},
}

func fromPipeline(of func(*store.Pipeline) float64) func(store.Record) float64 {
	return fromResult(func(r *store.Result) float64 {
		if r.Pipeline == nil {
			return math.NaN()
		}
		return of(r.Pipeline)
	})
}

func response(of func(hist.Snapshot) float64) func(store.Record) float64 {
	return fromPipeline(func(p *store.Pipeline) float64 {
		if p.Response.Count() == 0 {
			return math.NaN()
		}
		return of(p.Response)
	})
}

func isPipeline(r store.Record) bool { return len(pipelineCourse(r)) > 0 }

// pipelineCourse lists the reports on a pipeline's parts and on the broker's queue, with times from the start of the measured phase.
// It is nil if r has no pipeline.
func pipelineCourse(r store.Record) []store.PipelineTick {
	if r.Result == nil || r.Result.Pipeline == nil {
		return nil
	}
	looks := slices.Clone(r.Result.Pipeline.Series)
	for i := range looks {
		looks[i].OffsetNs -= int64(r.Result.WarmupSeconds * 1e9)
	}
	return looks
}

// lookNear is how far in time, in nanoseconds, a report may be from the moment that it is shown at. Reports are half a second apart,
// unless a broker that stands still doesn't answer.
const lookNear = int64(5e8)

// lookAt is the report that is nearest to a moment. It is empty if none is near.
func lookAt(looks []store.PipelineTick, at int64) (nearest store.PipelineTick) {
	off := lookNear + 1
	for _, look := range looks {
		if d := max(look.OffsetNs-at, at-look.OffsetNs); d < off {
			nearest, off = look, d
		}
	}
	return nearest
}

// orNaN is a figure that a broker may not have given.
func orNaN[N int64 | float64](n *N) float64 {
	if n == nil {
		return math.NaN()
	}
	return float64(*n)
}

// Struck names the node or the part of a pipeline that a fault was done to.
func Struck(f store.FaultEvent) string {
	if f.Part != "" {
		return f.Part
	}
	return fmt.Sprintf("node %d", f.Node)
}
