// The table of the pipelines among points.

package reports

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// pipelineFigures are those that only an application around the broker has.
var pipelineFigures = []string{
	results.KeyResponseP50, results.KeyResponseP99, results.KeyResponseMax, results.KeyQueueMax, results.KeyServerCPUPerRequest, results.KeyConsumerCPUMax,
}

// pipelineTable has a row for every point that is a pipeline.
func pipelineTable(g group, l layout) document.Table {
	columns := pointColumns(l)
	for _, c := range metricColumns(pipelineFigures, nil) {
		columns = append(columns, cellColumn(c, func(p results.LoadPoint) document.Cell { return p.Cell(c.Key) }))
	}
	columns = append(columns, repetitionsColumn)
	var loadPoints []results.LoadPoint
	for _, p := range g.points {
		if p.Spec.Pipeline != nil {
			loadPoints = append(loadPoints, p.LoadPoints()...)
		}
	}
	t := tableOf(columns, loadPoints)
	t.Title = "The pipelines; response times are what clients saw, from the sending of a request to its last answer"
	return t
}
