// The tables of a study report: each figure of a publication beside its repetition, in the publication's unit. The sides, such as
// "published" and "now", stand beside each other if the publication has few columns, and else below each other. One figure of a series
// stands in rows and columns, as publications print it:
//
//	size   e2e mean ms   e2e mean ms     size   of          e2e mean ms   e2e p99 ms     size   kafka       kafka   pulsar      pulsar
//	       published     now             100    published   12.1          40.1                  published   now     published   now
//	100    12.1          4.2             100    now         4.2           11.6           100    12.1        4.2     30.5        7.0

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// maxColumnsBeside is how many columns of a publication are repeated for each side. More would make the
// table too wide.
const maxColumnsBeside = 3

// maxPivotColumns is how many columns of figures a table in rows and columns has at most.
const maxPivotColumns = 12

// table sets the sides beside each other if the columns are few, and else below each other.
func (x exhibit) table() document.Table {
	series := x.seriesValues()
	if len(x.columns) == 1 && len(series) > 1 && len(series)*len(x.sides) <= maxPivotColumns {
		return x.pivot(series)
	}
	if len(x.columns) <= maxColumnsBeside {
		return x.tableWithSidesBeside()
	}
	return x.tableWithSidesBelow()
}

// tableWithSidesBeside has a column for each column of the publication and each side.
func (x exhibit) tableWithSidesBeside() document.Table {
	columns := x.rowColumns()
	for _, c := range x.columns {
		for _, side := range x.sides {
			column := c.column()
			column.Spread = side != claim.Published // published figures have no spread
			column.Key, column.Name = column.Key+"_"+side, column.Name+"\n"+side
			columns = append(columns, cellColumn(column, func(r exhibitRow) document.Cell { return c.cell(r, side) }))
		}
	}
	return tableOf("", columns, x.rows)
}

// seriesValues lists the values of the series in their order; none without a series.
func (x exhibit) seriesValues() []string {
	if x.Series == "" {
		return nil
	}
	return lists.AddNew(nil, lists.Map(x.rows, func(r exhibitRow) string { return r.series })...)
}

// pivot has a row for each value of the rows, and a column for each value of the series and each side, of the only column.
func (x exhibit) pivot(series []string) document.Table {
	c := x.columns[0]
	columns := []columnOf[[]exhibitRow]{textColumn(document.Column{Key: x.Rows, Name: x.rowName(), Identifies: true},
		func(row []exhibitRow) string { return row[0].value })}
	for _, of := range series {
		for _, side := range x.sides {
			column := c.column()
			column.Spread = side != claim.Published
			column.Key, column.Name = column.Key+"_"+of+"_"+side, of+"\n"+side
			columns = append(columns, cellColumn(column, func(row []exhibitRow) document.Cell {
				if i := slices.IndexFunc(row, func(r exhibitRow) bool { return r.series == of }); i >= 0 {
					return c.cell(row[i], side)
				}
				return document.Cell{}
			}))
		}
	}
	byValue := results.GroupBy(x.rows, func(r exhibitRow) string { return r.value })
	rows := lists.Map(byValue, func(g results.Group[exhibitRow]) []exhibitRow { return g.Members })
	slices.SortStableFunc(rows, func(a, b []exhibitRow) int { return compareRows(a[0], b[0]) })
	return tableOf(fmt.Sprintf("%s by %s", c.axis().Name, x.Series), columns, rows)
}

// sideRow is a row of the publication for one side.
type sideRow struct {
	exhibitRow
	side string
}

// tableWithSidesBelow has a row for each row of the publication and each side that has it.
func (x exhibit) tableWithSidesBelow() document.Table {
	columns := convertColumns(x.rowColumns(), func(r sideRow) exhibitRow { return r.exhibitRow })
	if len(x.sides) > 1 {
		columns = append(columns, textColumn(document.Column{Key: "of", Name: "of", Identifies: true}, func(r sideRow) string { return r.side }))
	}
	for _, c := range x.columns {
		columns = append(columns, cellColumn(c.column(), func(r sideRow) document.Cell { return c.cell(r.exhibitRow, r.side) }))
	}
	var rows []sideRow
	for _, r := range x.rows {
		for _, side := range x.sides {
			if _, ok := r.loadPoints[side]; ok {
				rows = append(rows, sideRow{exhibitRow: r, side: side})
			}
		}
	}
	return tableOf("", columns, rows)
}

// rowColumns identify the rows.
func (x exhibit) rowColumns() []columnOf[exhibitRow] {
	columns := []columnOf[exhibitRow]{
		textColumn(document.Column{Key: x.Rows, Name: x.rowName(), Identifies: true}, func(r exhibitRow) string { return r.value }),
	}
	if x.Series != "" {
		columns = append(columns, textColumn(document.Column{Key: x.Series, Name: x.Series, Identifies: true},
			func(r exhibitRow) string { return r.series }))
	}
	return columns
}

func (x exhibit) rowName() string {
	if x.Rows == study.RowsOfRates {
		return "rate"
	}
	return x.Rows
}

// exhibitColumn is a column of the publication: a metric in the unit in which the publication prints it.
type exhibitColumn struct {
	metric results.Metric
	unit   string // such as "ms"; empty if it is the metric's own
}

// column describes the cells of c, in the publication's unit.
func (c exhibitColumn) column() document.Column {
	column := document.Column{Key: c.metric.Key, Name: metricWords(c.metric.Key), Unit: c.metric.Unit, Spread: true}
	if c.unit == "" {
		return column
	}
	column.Key, column.Name = keyInUnit(c.metric.Key, c.unit), column.Name+"\n"+c.unit
	column.Unit = unit.None
	if (c.metric.Unit == unit.PerSecond || c.metric.Unit == unit.Count) && c.unitSize() == 1 {
		column.Unit = unit.Count // whole, as papers print them
	}
	return column
}

// cell is the figure of a side, in the publication's unit, or how its repetitions ended if they have none.
func (c exhibitColumn) cell(r exhibitRow, side string) document.Cell {
	l, ok := r.loadPoints[side]
	isRateOfCurve := r.rate > 0 // which has a status of its own
	switch {
	case !ok:
		return document.Cell{}
	case len(l.Records) == 0:
		return document.Text(l.Point.Status())
	case isRateOfCurve && !l.Used():
		return document.Text(string(l.Status))
	}
	cell := l.Over(c.metric).Cell()
	if cell.Kind == document.Blank {
		return cell
	}
	size := c.unitSize()
	cell.Number, cell.Low, cell.High = cell.Number/size, cell.Low/size, cell.High/size
	return cell
}

// unitSize is the size of the publication's unit in the metric's own: 1e6 of "ms" for nanoseconds.
func (c exhibitColumn) unitSize() float64 {
	size, err := results.InUnit(c.metric.Unit, c.unit)
	if err != nil {
		panic("reports: " + err.Error()) // ReadPaper refuses units in which the metric is never printed
	}
	return size
}

// metricWords is a metric's key in words, without its unit: "e2e mean" of e2e_mean_ns. The metric's name in other
// reports, "published" of a publish rate, would be taken for the paper's figure.
func metricWords(key string) string {
	stem, _ := cutUnit(key)
	stem = strings.TrimSuffix(stem, "_low") // a sustainable rate is known by its bracket, whose lower bound is printed
	return strings.ReplaceAll(stem, "_", " ")
}

// keyInUnit is a metric's key with another unit: e2e_mean_ns in ms is e2e_mean_ms. A key without a unit
// stays as it is.
func keyInUnit(key, unitName string) string {
	stem, hasUnit := cutUnit(key)
	if !hasUnit {
		return key
	}
	return stem + "_" + strings.ToLower(strings.NewReplacer("/", "_per_", "%", "pct", "µ", "u").Replace(unitName))
}

// cutUnit cuts the unit off the key of a metric: e2e_mean of e2e_mean_ns. Keys of rates and counts have none.
func cutUnit(key string) (stem string, hasUnit bool) {
	for _, suffix := range []string{"_ns", "_bytes", "_s", "_pct"} {
		if stem, hasUnit := strings.CutSuffix(key, suffix); hasUnit {
			return stem, true
		}
	}
	return key, false
}
