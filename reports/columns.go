// Tables are built from columns that know how to fill their cells, so that no cell can come under the
// wrong head:
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

// columnOf is a column of a table with a row for each T.
type columnOf[T any] struct {
	document.Column
	cell func(subject T) document.Cell
}

// cellColumn is a column of cells of any kind.
func cellColumn[T any](c document.Column, cell func(T) document.Cell) columnOf[T] {
	return columnOf[T]{Column: c, cell: cell}
}

// textColumn is a column of words. An empty text makes a blank cell.
func textColumn[T any](c document.Column, text func(T) string) columnOf[T] {
	return cellColumn(c, func(subject T) document.Cell { return document.Text(text(subject)) })
}

// numberColumn is a column of numbers in the column's unit. NaN makes a blank cell.
func numberColumn[T any, N int | int64 | float64](c document.Column, number func(T) N) columnOf[T] {
	return cellColumn(c, func(subject T) document.Cell { return document.Number(number(subject)) })
}

// repetitionsColumn has n, the number of repetitions that a row rests on.
func repetitionsColumn[T any](n func(T) int) columnOf[T] {
	return numberColumn(document.Column{Key: "n", Name: "n", Unit: unit.Count}, n)
}

// tableOf has a row for each subject. A table that a heading names has no title.
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

// convertColumns turns columns of S into columns of T, whose S is found by part.
func convertColumns[T, S any](columns []columnOf[S], part func(T) S) []columnOf[T] {
	var converted []columnOf[T]
	for _, c := range columns {
		converted = append(converted, cellColumn(c.Column, func(subject T) document.Cell { return c.cell(part(subject)) }))
	}
	return converted
}

// pointColumns identify the point and the load of a row. Message size and guarantee are for programs
// only: readers see them in the heading above the table.
func pointColumns(l layout) []columnOf[results.LoadPoint] {
	columns := []columnOf[results.LoadPoint]{
		textColumn(document.Column{Key: "point_id", MachinesOnly: true}, func(lp results.LoadPoint) string { return lp.Point.ID }),
		numberColumn(document.Column{Key: "message_bytes", Unit: unit.Bytes, MachinesOnly: true}, func(lp results.LoadPoint) float64 { return lp.Point.Spec.MessageSize.Mean() }),
		textColumn(document.Column{Key: "delivery", MachinesOnly: true}, func(lp results.LoadPoint) string { return lp.Point.Spec.Delivery }),
	}
	columns = append(columns, convertColumns(l.columns(), func(lp results.LoadPoint) results.Point { return lp.Point })...)
	load := document.Column{Key: "load", Name: "load", Identifies: true, MachinesOnly: l.load != ""}
	return append(columns, textColumn(load, func(lp results.LoadPoint) string { return lp.RowTitle }))
}

// hiddenColumns tells, by the key of a metric, which columns only programs read.
type hiddenColumns map[string]bool

// metricColumns has a column for each metric. cell fills it, by the metric's key.
func metricColumns[T any](keys []string, hidden hiddenColumns, cell func(subject T, key string) document.Cell) []columnOf[T] {
	var columns []columnOf[T]
	for _, key := range keys {
		c := results.Column(key)
		c.MachinesOnly = hidden[key]
		columns = append(columns, cellColumn(c, func(subject T) document.Cell { return cell(subject, key) }))
	}
	return columns
}

// countColumns are columns of counted messages. A row whose books are nil has blank cells, and so has a
// count that is not known.
func countColumns[T any](keys []string, hidden hiddenColumns, books func(T) *results.Books) []columnOf[T] {
	return metricColumns(keys, hidden, func(subject T, key string) document.Cell {
		b := books(subject)
		if b == nil {
			return document.Cell{}
		}
		return document.Number(results.MustMetric(key).CountIn(*b))
	})
}
