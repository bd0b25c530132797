package results

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// pipelineMetrics are the metrics of an application around the broker. Response times count from the sending of a request. Closed
// loops have them too, because clients of the application observed them.
var pipelineMetrics = []Metric{
	responseTime("response_min_ns", "response min", quantile(0)),
	responseTime("response_mean_ns", "response mean", mean),
	responseTime(KeyResponseP50, "response p50", quantile(0.5)),
	responseTime(KeyResponseP99, "response p99", quantile(0.99)),
	responseTime(KeyResponseMax, "response max", quantile(1)),
	{
		Key: KeyQueueMax, Name: "longest queue", Head: "longest\nqueue", Unit: unit.None, Better: Lower,
		Doc: "the most that the broker said to hold", measured: ofPipeline(func(p *store.Pipeline) float64 { return orNaN(p.QueueMax) }),
	},
	{
		Key: KeyQueueMemory, Name: "queue's memory", Head: "queue's\nmemory", Unit: unit.Bytes, Better: Lower,
		Doc: "that the broker said to use for the queue before the load", measured: ofPipeline(func(p *store.Pipeline) float64 { return orNaN(p.QueueBytes) }),
	},
	{
		Key: KeyConsumerCapacity, Name: "consumer capacity, %", Head: "consumer\ncapacity, %", Unit: unit.None, Better: Higher,
		Doc:      "the least share of the time in which, as the broker said, the consumer could have taken a message at once",
		measured: ofPipeline(func(p *store.Pipeline) float64 { return 100 * orNaN(p.ConsumerCapacity) }),
	},
	{
		Key: KeyServerCPUPerRequest, Name: "server CPU, µs per request", Head: "server CPU\nµs/request",
		Doc: "of all servers of a pipeline", Unit: unit.None, Better: Lower, isCPU: true, measured: ofPart("server", cpuPerRequest),
	},
	{
		Key: KeyConsumerCPUMax, Name: "consumer CPU at most, % of a core", Head: "consumer\nCPU, max %",
		Doc: "of a pipeline, in half a second", Unit: unit.None, Better: Lower, isCPU: true, measured: ofPart("consumer", largestCPU),
	},
}

// responseTime is a statistic of the times from a request's sending to its answer. Its name, "response p99", is broken at
// the space over a column.
func responseTime(key, name string, s statistic) Metric {
	return Metric{
		Key: key, Name: name, Doc: "of a pipeline: from a request's sending to its answer", Head: strings.Replace(name, " ", "\n", 1), Unit: unit.Nanoseconds, Better: Lower,
		measured: ofPipeline(func(p *store.Pipeline) float64 { return s.least(p.Response) }),
	}
}

// ofPipeline reads a figure of the application as a whole.
func ofPipeline(figure func(*store.Pipeline) float64) func(store.Record) float64 {
	return func(r store.Record) float64 { return known(r.Result.Pipeline, figure) }
}

// ofPart reads a figure of a part of the application: of "server", all its processes together, or of "consumer".
func ofPart(name string, figure func(store.PipelinePart, store.Record) float64) func(store.Record) float64 {
	return func(r store.Record) float64 {
		return known(r.Result.Pipeline, func(p *store.Pipeline) float64 {
			part, ok := p.Part(name)
			return knownIf(ok, figure(part, r))
		})
	}
}

// cpuPerRequest is the processor time of a part in microseconds per request, both counted from the beginning of the measured
// phase.
func cpuPerRequest(part store.PipelinePart, r store.Record) float64 {
	return divided((part.UserSeconds+part.SystemSeconds)*1e6, r.Result.Books.Sent)
}

// largestCPU is the largest use of a part over half a second, in percent of a core.
func largestCPU(part store.PipelinePart, _ store.Record) float64 { return 100 * part.PeakCPU }

// Struck names the node or the part of a pipeline that a fault hit.
func Struck(f store.FaultEvent) string {
	if f.Part != "" {
		return f.Part
	}
	return fmt.Sprintf("node %d", f.Node)
}
