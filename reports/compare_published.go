package reports

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// medians are a metric of both sides. No test compares them, because one side was published.
type medians struct {
	metric        results.Metric
	first, second results.Summary
}

// ratio is blank if the first side has nothing to divide by.
func (m medians) ratio() document.Cell {
	if m.first.Median <= 0 {
		return document.Cell{}
	}
	return document.Number(m.second.Median / m.first.Median)
}

// publishedBlocks set figures of a publication beside those of the other side, without a test.
func (p pair) publishedBlocks() []document.Block {
	first, second := p.first.usableOrPublished(), p.second.usableOrPublished()
	var ofBoth []medians
	for _, m := range results.Metrics {
		m = m.AsRecorded() // with the latency of closed loops, which papers print
		of := medians{metric: m, first: m.Over(first), second: m.Over(second)}
		if of.first.N > 0 && of.second.N > 0 {
			ofBoth = append(ofBoth, of)
		}
	}
	heading := document.Heading{Level: 1, Text: p.title}
	if len(ofBoth) == 0 {
		return []document.Block{heading, document.Paragraph{Text: fmt.Sprintf("No figure is known of both %s and %s.", p.first.side, p.second.side)}}
	}
	return []document.Block{heading, tableOf("", []columnOf[medians]{
		textColumn(document.Column{Key: "metric", Name: "metric", Identifies: true}, func(m medians) string { return m.metric.Name }),
		cellColumn(document.Column{Key: "first", Name: p.first.side, Spread: true}, func(m medians) document.Cell { return m.first.Cell().In(m.metric.Unit) }),
		cellColumn(document.Column{Key: "second", Name: p.second.side, Spread: true}, func(m medians) document.Cell { return m.second.Cell().In(m.metric.Unit) }),
		cellColumn(document.Column{Key: "ratio", Name: "ratio", Unit: unit.Factor}, medians.ratio),
		numberColumn(document.Column{Key: "first_n", Unit: unit.Count, MachinesOnly: true}, func(m medians) int { return m.first.N }),
		numberColumn(document.Column{Key: "second_n", Unit: unit.Count, MachinesOnly: true}, func(m medians) int { return m.second.N }),
	}, ofBoth)}
}

// usableOrPublished lists the records that conclusions may be drawn from, and those of published points.
func (h half) usableOrPublished() []results.Record {
	var records []results.Record
	for _, p := range h.points {
		if p.Published() {
			records = append(records, p.Records...)
		} else {
			records = append(records, p.Ok()...)
		}
	}
	return records
}
