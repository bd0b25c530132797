package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// pipelineMetrics are the metrics of an application around the broker. Response times count from the sending of a request. They are
// given for closed loops as well, because they are what clients of the application saw.
var pipelineMetrics = []Metric{
	responseTime(KeyResponseMin, "response min", quantile(0)),
	responseTime(KeyResponseMean, "response mean", mean),
	responseTime(KeyResponseP50, "response p50", quantile(0.5)),
	responseTime(KeyResponseP99, "response p99", quantile(0.99)),
	responseTime(KeyResponseMax, "response max", quantile(1)),
	{Key: KeyQueueMax, Name: "longest queue", Head: "longest\nqueue", Unit: unit.None, Better: Lower, measured: longestQueue},
	{
		Key: KeyServerCPUPerRequest, Name: "server CPU, µs per request", Head: "server CPU\nµs/request", Unit: unit.None, Better: Lower,
		measured: serverCPUPerRequest,
	},
	{
		Key: KeyConsumerCPUMax, Name: "consumer CPU at most, % of a core", Head: "consumer\nCPU, max %", Unit: unit.None, Better: Lower,
		measured: consumerCPUMax,
	},
}

// responseTime is a statistic of the times from a request's sending to its answer. Its name, "response p99", is broken at the space over
// a column.
func responseTime(key, name string, statistic func(hist.Snapshot) float64) Metric {
	return Metric{
		Key: key, Name: name, Head: strings.Replace(name, " ", "\n", 1), Unit: unit.Nanoseconds, Better: Lower,
		measured: func(r store.Record) float64 {
			if r.Result.Pipeline == nil {
				return math.NaN()
			}
			return statistic(r.Result.Pipeline.Response)
		},
	}
}

// longestQueue is the largest number of messages that the broker said to hold for the consumer.
func longestQueue(r store.Record) float64 {
	if r.Result.Pipeline == nil {
		return math.NaN()
	}
	return orNaN(r.Result.Pipeline.QueueMax)
}

// serverCPUPerRequest is the processor time of all servers in microseconds per request.
func serverCPUPerRequest(r store.Record) float64 {
	if r.Result.Pipeline == nil {
		return math.NaN()
	}
	server, ok := r.Result.Pipeline.Part("server")
	if !ok {
		return math.NaN()
	}
	return divided((server.UserSeconds+server.SystemSeconds)*1e6, r.Result.Books.Sent)
}

// consumerCPUMax is the most that the consumer kept busy in half a second, in percent of a core.
func consumerCPUMax(r store.Record) float64 {
	if r.Result.Pipeline == nil {
		return math.NaN()
	}
	consumer, ok := r.Result.Pipeline.Part("consumer")
	if !ok {
		return math.NaN()
	}
	return 100 * consumer.PeakCPU
}

// isPipeline tells whether a record has a course of a pipeline.
func isPipeline(r store.Record) bool {
	return r.Result != nil && r.Result.Pipeline != nil && len(r.Result.Pipeline.Series) > 0
}

// pipelineReports lists the samples of a pipeline's parts and of the broker's queue, with times from the start of the measured phase.
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

// nearestReport is the report that is nearest to a time; an empty one if none is within half a second. Reports are half a second apart,
// unless a broker that stands still doesn't answer.
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

// Struck names the node or the part of a pipeline that a fault was done to.
func Struck(f store.FaultEvent) string {
	if f.Part != "" {
		return f.Part
	}
	return fmt.Sprintf("node %d", f.Node)
}
