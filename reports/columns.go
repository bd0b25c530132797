package reports

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// pointColumns identify the point and the load of a row. The heading above names the message size and the guarantee.
func pointColumns(l layout) []document.Column {
	columns := []document.Column{
		{Key: "point_id", Data: true},
		{Key: "message_bytes", Unit: unit.Bytes, Data: true},
		{Key: "delivery", Data: true},
	}
	columns = append(columns, l.columns()...)
	return append(columns, document.Column{Key: "load", Name: "load", Row: true, Data: l.load})
}

// pointCells are the cells of pointColumns.
func pointCells(p results.Point, load string, l layout) document.Row {
	row := document.Row{
		"point_id":      document.Text(p.ID),
		"message_bytes": document.Number(p.Spec.MessageSize.Mean()),
		"delivery":      document.Text(p.Spec.Delivery),
		"load":          document.Text(load),
	}
	l.name(row, p)
	return row
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

// countColumns are the columns of counted messages. A cell is blank if books are nil, and if they are of before messages that
// were due were counted.
func countColumns[T any](keys []string, hidden dataOnly, books func(T) *results.Books) []columnOf[T] {
	var columns []columnOf[T]
	for i, c := range metricColumns(keys, hidden) {
		count := results.MustMetric(keys[i]).Books
		ofDue := c.Key == "due" || c.Key == "unsent"
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
