package reports

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// pointColumns identify the point and the load of a row. The heading above names the message size and the guarantee.
func pointColumns(l layout) []columnOf[results.LoadPoint] {
	columns := []columnOf[results.LoadPoint]{
		{document.Column{Key: "point_id", Data: true}, func(p results.LoadPoint) document.Cell { return document.Text(p.Point.ID) }},
		{document.Column{Key: "message_bytes", Unit: unit.Bytes, Data: true}, func(p results.LoadPoint) document.Cell {
			return document.Number(p.Point.Spec.MessageSize.Mean())
		}},
		{document.Column{Key: "delivery", Data: true}, func(p results.LoadPoint) document.Cell { return document.Text(p.Point.Spec.Delivery) }},
	}
	columns = append(columns, columnsOf(l.columns(), func(p results.LoadPoint) results.Point { return p.Point })...)
	return append(columns, columnOf[results.LoadPoint]{
		document.Column{Key: "load", Name: "load", Row: true, Data: l.oneLoad}, func(p results.LoadPoint) document.Cell { return document.Text(p.RowTitle) },
	})
}

// dataOnly tells by a metric's key whether its column is for programs only. Readers see the other columns.
type dataOnly map[string]bool

// metricColumns are the columns of metrics.
func metricColumns(keys []string, hidden dataOnly) []document.Column {
	var columns []document.Column
	for _, key := range keys {
		c := results.Column(key)
		c.Data = hidden[key]
		columns = append(columns, c)
	}
	return columns
}

// columnOf is a column together with the cell that it shows of a row's subject, so that each key is written once.
type columnOf[T any] struct {
	document.Column
	cell func(T) document.Cell
}

// tableOf has a row for each subject.
func tableOf[T any](columns []columnOf[T], subjects []T) document.Table {
	var t document.Table
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, subject := range subjects {
		row := document.Row{}
		for _, c := range columns {
			row[c.Key] = c.cell(subject)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// columnsOf turns columns of one subject into columns of another, which has it.
func columnsOf[T, S any](columns []columnOf[S], subject func(T) S) []columnOf[T] {
	var out []columnOf[T]
	for _, c := range columns {
		out = append(out, columnOf[T]{c.Column, func(t T) document.Cell { return c.cell(subject(t)) }})
	}
	return out
}

// countColumns are the columns of counted messages. A cell is blank if books are nil, and if they are of before messages that
// were due were counted.
func countColumns[T any](keys []string, hidden dataOnly, books func(T) *results.Books) []columnOf[T] {
	var columns []columnOf[T]
	for i, c := range metricColumns(keys, hidden) {
		count := results.MustMetric(keys[i]).Books
		ofDue := c.Key == results.KeyDue || c.Key == results.KeyUnsent
		columns = append(columns, columnOf[T]{c, func(subject T) document.Cell {
			b := books(subject)
			if b == nil || ofDue && b.Due == 0 {
				return document.Cell{}
			}
			return document.Number(count(*b))
		}})
	}
	return columns
}
