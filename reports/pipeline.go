// A pipeline is an application around a broker, such as a server that answers requests through it. It has figures that no other
// measurement has, and a table of its own.

package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// pipelineFigures are the keys of the figures that only a pipeline has.
var pipelineFigures = []string{
	results.KeyResponseP50, results.KeyResponseP99, results.KeyResponseMax,
	results.KeyQueueMax, results.KeyQueueMemory, results.KeyConsumerCapacity, results.KeyServerCPUPerRequest, results.KeyConsumerCPUMax,
}

// pipelineTable has a row for every load of every pipeline among points.
func pipelineTable(points []results.Point, l layout) document.Table {
	pipelines := slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return p.Spec.Pipeline == nil })
	columns := slices.Concat(
		pointColumns(l),
		metricColumns(pipelineFigures, nil, results.LoadPoint.Cell),
		[]columnOf[results.LoadPoint]{repetitionsColumn(func(lp results.LoadPoint) int { return len(lp.Records) })},
	)
	title := "The pipelines; response times are what clients saw, from the sending of a request to its last answer"
	return tableOf(title, columns, results.LoadPointsOf(pipelines))
}
