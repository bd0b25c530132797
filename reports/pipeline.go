package reports

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// pipelineFigures are those that only an application around the broker has.
var pipelineFigures = []string{
	"response_p50_ns", "response_p99_ns", "response_max_ns", "queue_max", "server_cpu_us_per_request", "consumer_cpu_max_pct",
}

// pipelineTable has a row for every point that is a pipeline.
func pipelineTable(g group, l layout) document.Table {
	t := document.Table{
		Title:   "The pipelines; response times are what clients saw, from the sending of a request to its last answer",
		Columns: append(append(pointColumns(l), metricColumns(pipelineFigures, nil)...), document.Column{Key: "n", Name: "n", Unit: unit.Count}),
	}
	for i, p := range g.points {
		if p.Spec.Pipeline == nil {
			continue
		}
		for _, loadPoint := range results.LoadPoints(i, p) {
			row := pointCells(p, loadPoint.Title, l)
			for _, key := range pipelineFigures {
				row[key] = loadPoint.Cell(key)
			}
			row["n"] = document.Number(len(loadPoint.Records))
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
