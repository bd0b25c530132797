// The table of the pipelines among points: applications around a broker, measured end to end.

package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
)

// pipelineFigures are those that only an application around the broker has.
var pipelineFigures = []string{
	results.KeyResponseP50, results.KeyResponseP99, results.KeyResponseMax, results.KeyQueueMax, results.KeyServerCPUPerRequest, results.KeyConsumerCPUMax,
}

// pipelineTable has a row for every point that is a pipeline.
func pipelineTable(g group, l layout) document.Table {
	var loadPoints []results.LoadPoint
	for _, p := range g.points {
		if p.Spec.Pipeline != nil {
			loadPoints = append(loadPoints, p.LoadPoints()...)
		}
	}
	columns := slices.Concat(pointColumns(l), metricColumns(pipelineFigures, nil, results.LoadPoint.Cell), []columnOf[results.LoadPoint]{
		repetitionsColumn(func(l results.LoadPoint) int { return len(l.Records) }),
	})
	return tableOf("The pipelines; response times are what clients saw, from the sending of a request to its last answer", columns, loadPoints)
}
