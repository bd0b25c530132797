// Tables are built from columns that know how to fill their cells, so that no cell can come under the
// wrong head. For the goals p99 ≤ 10 ms (of 3 searches) and p50 ≤ 1 ms (of 2)
//
//	tableOf("Goals", []columnOf[results.Goal]{
//		textColumn(document.Column{Key: "goal", Name: "goal", Identifies: true}, func(g results.Goal) string { return g.Name }),
//		numberColumn(document.Column{Key: "n", Name: "n", Unit: unit.Count}, func(g results.Goal) int { return g.N }),
//	}, goals)
//
// has the rows "p99 ≤ 10ms, 3" and "p50 ≤ 1ms, 2". Programs read columns by their Key, people by their Name.

package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// columnOf is a column of a table with a row for each T. A row's T is its subject.
type columnOf[T any] struct {
	document.Column
	cell func(subject T) document.Cell
}

// cellColumn is a column whose cells the report makes itself.
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

// tableOf has a row for each subject. A table that a heading names has no title. The document that the table is added to panics if two
// columns have one key.
func tableOf[T any](title string, columns []columnOf[T], subjects []T) document.Table {
	t := document.Table{Title: title, Columns: lists.Map(columns, func(c columnOf[T]) document.Column { return c.Column })}
	for _, subject := range subjects {
		row := document.Row{}
		for _, c := range columns {
			row[c.Key] = c.cell(subject)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// convertColumns reuses columns about an S in a table with a row for each T. partOf finds the S in a T, such
// as the point of a load point.
func convertColumns[T, S any](columns []columnOf[S], partOf func(T) S) []columnOf[T] {
	return lists.Map(columns, func(c columnOf[S]) columnOf[T] {
		return cellColumn(c.Column, func(subject T) document.Cell { return c.cell(partOf(subject)) })
	})
}

// settingColumns are the message size and the guarantee of a point. They are for programs: people read both
// in the heading above the table.
var settingColumns = []columnOf[results.Point]{
	numberColumn(document.Column{Key: "message_bytes", Unit: unit.Bytes, MachinesOnly: true},
		func(p results.Point) float64 { return p.Spec.MessageSize.Mean() }),
	textColumn(forPrograms("delivery"), func(p results.Point) string { return p.Spec.Delivery }),
}

// pointColumns identify the point and the load of a row.
func pointColumns(l layout) []columnOf[results.LoadPoint] {
	id := textColumn(forPrograms("point_id"), func(p results.Point) string { return p.ID })
	ofPoint := slices.Concat([]columnOf[results.Point]{id}, settingColumns, l.columns())
	load := document.Column{Key: "load", Name: "load", Identifies: true, MachinesOnly: l.load != ""}
	return append(convertColumns(ofPoint, func(lp results.LoadPoint) results.Point { return lp.Point }),
		textColumn(load, func(lp results.LoadPoint) string { return lp.RowTitle }))
}

// hiddenColumns tells, by the key of a metric, whether its column is for programs only.
type hiddenColumns map[string]bool

// metricColumns has a column for each of the metrics with these keys. cell makes a subject's cell for a key.
func metricColumns[T any](keys []string, hidden hiddenColumns, cell func(subject T, key string) document.Cell) []columnOf[T] {
	return lists.Map(keys, func(key string) columnOf[T] {
		c := results.Column(key)
		c.MachinesOnly = hidden[key]
		return cellColumn(c, func(subject T) document.Cell { return cell(subject, key) })
	})
}

// countColumns are columns of counted messages, such as results.KeyLost. A count that is not known makes a blank cell.
func countColumns[T any](keys []string, hidden hiddenColumns, books func(T) results.Books) []columnOf[T] {
	return metricColumns(keys, hidden, func(subject T, key string) document.Cell { return countCell(books(subject), key) })
}

// countCell is a count of messages by its key, or blank if it is not known.
func countCell(b results.Books, key string) document.Cell {
	return document.Number(results.MustMetric(key).CountIn(b))
}
