package reports

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// untestedMetric is a metric of both sides, one of which was published: its summary on each, and no test of
// them. For an e2e mean of 4 ms in the paper and one of 2 ms measured now the ratio is 0.50.
type untestedMetric struct {
	metric        results.Metric
	first, second results.Summary // of each side
}

// ratio is blank if the first side has nothing to divide by.
func (u untestedMetric) ratio() document.Cell {
	if u.first.Median <= 0 {
		return document.Cell{}
	}
	return document.Number(u.second.Median / u.first.Median)
}

// publishedBlocks set figures of a publication beside those of the other side, without a test.
func (p pair) publishedBlocks() []document.Block {
	first, second := p.first.usableOrPublished(), p.second.usableOrPublished()
	var metrics []untestedMetric
	for _, m := range results.Metrics {
		m = m.AsRecorded() // with the latency of closed loops, which papers print
		u := untestedMetric{metric: m, first: m.Over(first), second: m.Over(second)}
		if u.first.N > 0 && u.second.N > 0 {
			metrics = append(metrics, u)
		}
	}
	heading := document.Heading{Level: 1, Text: p.title}
	if len(metrics) == 0 {
		none := fmt.Sprintf("No figure is known of both %s and %s.", p.first.sideName, p.second.sideName)
		return []document.Block{heading, document.Paragraph{Text: none}}
	}
	firstColumn, secondColumn := p.sideColumns()
	return []document.Block{heading, tableOf("", []columnOf[untestedMetric]{
		textColumn(document.Column{Key: "metric", Name: "metric", Identifies: true}, func(u untestedMetric) string { return u.metric.Name }),
		cellColumn(firstColumn, func(u untestedMetric) document.Cell { return u.first.Cell().In(u.metric.Unit) }),
		cellColumn(secondColumn, func(u untestedMetric) document.Cell { return u.second.Cell().In(u.metric.Unit) }),
		cellColumn(document.Column{Key: "ratio", Name: "ratio", Unit: unit.Factor}, untestedMetric.ratio),
		numberColumn(document.Column{Key: "first_n", Unit: unit.Count, MachinesOnly: true}, func(u untestedMetric) int { return u.first.N }),
		numberColumn(document.Column{Key: "second_n", Unit: unit.Count, MachinesOnly: true}, func(u untestedMetric) int { return u.second.N }),
	}, metrics)}
}

// usableOrPublished lists the records that conclusions may be drawn from, and those of published points.
func (h half) usableOrPublished() []results.Record {
	records := h.usable()
	for _, p := range h.points {
		if p.Published() {
			records = append(records, p.Records...)
		}
	}
	return records
}
