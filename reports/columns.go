// Tables are built here. A column and the function that fills its cells stand together, so that no cell can come under the wrong head:
//
//	t := tableOf("Books", []columnOf[account]{
//		textColumn(document.Column{Key: "broker", Name: "broker", Row: true}, func(a account) string { return a.point.Name }),
//		numberColumn(document.Column{Key: "lost", Name: "lost", Unit: unit.Count}, func(a account) int64 { return a.books().Lost }),
//	}, accounts) // a row for each account

package reports

import (
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// columnOf is a column with the cell that it has in the row of a T.
type columnOf[T any] struct {
	document.Column
	cell func(subject T) document.Cell
}

// cellColumn is a column of cells of any kind.
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

// repetitionsColumn has n: how many repetitions a row rests on.
func repetitionsColumn[T any](n func(T) int) columnOf[T] {
	return numberColumn(document.Column{Key: "n", Name: "n", Unit: unit.Count}, n)
}

// tableOf has a row for each subject. Tables that a heading names have no title.
func tableOf[T any](title string, columns []columnOf[T], subjects []T) document.Table {
	t := document.Table{Title: title}
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

// pointColumns identify the point and the load of a row. Size and guarantee, which the heading above the table names, are for programs
// only.
func pointColumns(l layout) []columnOf[results.LoadPoint] {
	columns := []columnOf[results.LoadPoint]{
		textColumn(document.Column{Key: "point_id", Data: true}, func(l results.LoadPoint) string { return l.Point.ID }),
		numberColumn(document.Column{Key: "message_bytes", Unit: unit.Bytes, Data: true}, func(l results.LoadPoint) float64 { return l.Point.Spec.MessageSize.Mean() }),
		textColumn(document.Column{Key: "delivery", Data: true}, func(l results.LoadPoint) string { return l.Point.Spec.Delivery }),
	}
	columns = append(columns, columnsOf(l.columns(), func(l results.LoadPoint) results.Point { return l.Point })...)
	load := document.Column{Key: "load", Name: "load", Row: true, Data: l.oneLoad}
	return append(columns, textColumn(load, func(l results.LoadPoint) string { return l.RowTitle }))
}

// hiddenColumns tells, by the key of a metric, which columns only programs read.
type hiddenColumns map[string]bool

// metricColumns has a column for each metric. cell fills it, by the metric's key.
func metricColumns[T any](keys []string, hidden hiddenColumns, cell func(subject T, key string) document.Cell) []columnOf[T] {
	var columns []columnOf[T]
	for _, key := range keys {
		c := results.Column(key)
		c.Data = hidden[key]
		columns = append(columns, cellColumn(c, func(subject T) document.Cell { return cell(subject, key) }))
	}
	return columns
}

// countColumns are the columns of counted messages. A cell is blank if books returns nil. Older records did not count the messages
// that were due: there the cells of due and unsent messages are blank.
func countColumns[T any](keys []string, hidden hiddenColumns, books func(T) *results.Books) []columnOf[T] {
	return metricColumns(keys, hidden, func(subject T, key string) document.Cell {
		b := books(subject)
		needsDue := key == results.KeyDue || key == results.KeyUnsent
		if b == nil || needsDue && b.Due == 0 {
			return document.Cell{}
		}
		return document.Number(results.MustMetric(key).Books(*b))
	})
}
