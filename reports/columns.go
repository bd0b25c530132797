// Tables are built here: a column together with the function that fills its cells, and the columns that several reports share.

package reports

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// columnOf is a column with the cell that it has in the row of a subject. That way each key is written once.
type columnOf[T any] struct {
	document.Column
	cell func(subject T) document.Cell
}

func cellColumn[T any](c document.Column, cell func(T) document.Cell) columnOf[T] {
	return columnOf[T]{Column: c, cell: cell}
}

// textColumn is a column of words. Empty words make a blank cell.
func textColumn[T any](c document.Column, text func(T) string) columnOf[T] {
	return cellColumn(c, func(subject T) document.Cell { return document.Text(text(subject)) })
}

// numberColumn is a column of numbers in the column's unit. NaN makes a blank cell.
func numberColumn[T any, N int | int64 | float64](c document.Column, number func(T) N) columnOf[T] {
	return cellColumn(c, func(subject T) document.Cell { return document.Number(number(subject)) })
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

// columnsOf turns columns of S into columns of T. subject finds the S of a T.
func columnsOf[T, S any](columns []columnOf[S], subject func(T) S) []columnOf[T] {
	var out []columnOf[T]
	for _, c := range columns {
		out = append(out, cellColumn(c.Column, func(t T) document.Cell { return c.cell(subject(t)) }))
	}
	return out
}

// pointColumns identify the point and the load of a row. The heading above the table names the message size and the guarantee.
func pointColumns(l layout) []columnOf[results.LoadPoint] {
	columns := []columnOf[results.LoadPoint]{
		textColumn(document.Column{Key: "point_id", Data: true}, func(p results.LoadPoint) string { return p.Point.ID }),
		numberColumn(document.Column{Key: "message_bytes", Unit: unit.Bytes, Data: true}, func(p results.LoadPoint) float64 { return p.Point.Spec.MessageSize.Mean() }),
		textColumn(document.Column{Key: "delivery", Data: true}, func(p results.LoadPoint) string { return p.Point.Spec.Delivery }),
	}
	columns = append(columns, columnsOf(l.columns(), func(p results.LoadPoint) results.Point { return p.Point })...)
	load := document.Column{Key: "load", Name: "load", Row: true, Data: l.oneLoad}
	return append(columns, textColumn(load, func(p results.LoadPoint) string { return p.RowTitle }))
}

// repetitionsColumn counts the repetitions that a row rests on.
var repetitionsColumn = numberColumn(
	document.Column{Key: "n", Name: "n", Unit: unit.Count}, func(p results.LoadPoint) int { return len(p.Records) },
)

// hiddenColumns says by a metric's key which columns only programs read.
type hiddenColumns map[string]bool

// metricColumns are the columns of metrics, without cells.
func metricColumns(keys []string, hidden hiddenColumns) []document.Column {
	var columns []document.Column
	for _, key := range keys {
		c := results.Column(key)
		c.Data = hidden[key]
		columns = append(columns, c)
	}
	return columns
}

// countColumns are the columns of counted messages. A cell is blank if books returns nil. Older records did not count the messages
// that were due: there the cells of due and unsent messages are blank.
func countColumns[T any](keys []string, hidden hiddenColumns, books func(T) *results.Books) []columnOf[T] {
	var columns []columnOf[T]
	for i, c := range metricColumns(keys, hidden) {
		count := results.MustMetric(keys[i]).Books
		needsDue := c.Key == results.KeyDue || c.Key == results.KeyUnsent
		columns = append(columns, cellColumn(c, func(subject T) document.Cell {
			b := books(subject)
			if b == nil || needsDue && b.Due == 0 {
				return document.Cell{}
			}
			return document.Number(count(*b))
		}))
	}
	return columns
}
