// A publication's tables and figures, filled from records.

package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// exhibits writes the publication's tables and figures in its order, filled from records: what was published, then what was measured
// with the versions of then and of now, beside each other.
func (p Paper) exhibits(d *document.Document, beside *results.Set) {
	if len(p.Study.Exhibits) == 0 {
		return
	}
	d.Add(document.Heading{Level: 2, Text: p.words().exhibits})
	if p.isPublished() {
		d.Say(results.PublishedNote)
	}
	for _, e := range p.Study.Exhibits {
		title := e.Title
		if e.Place != "" {
			title = strings.TrimSpace(e.Title + ", " + e.Place)
		}
		d.Add(document.Heading{Level: 3, Text: title})
		d.Say(e.Note)
		x := p.exhibit(e, beside)
		if len(x.rows) == 0 {
			d.Say(p.words().unmeasured)
			continue
		}
		d.Add(x.table())
		if x.leftOut > 0 {
			d.Say(fmt.Sprintf("The paper has %s more, of values that were not measured here.", plural(x.leftOut, "row")))
		}
	}
}

// exhibit is a table or figure of the publication, filled from records.
type exhibit struct {
	study.Exhibit
	sides   []string // that have content, in the order of their columns
	columns []exhibitColumn
	rows    []exhibitRow
	leftOut int // rows of the publication that were not measured
}

// exhibitColumn is a column of the publication.
type exhibitColumn struct {
	metric results.Metric
	unit   string // the publication's, such as "ms"; empty if it is the metric's own
}

// exhibitRow has the load points that lie at one value of the rows and of the series.
type exhibitRow struct {
	value, series string
	rate          float64 // orders the rates of a curve; 0 for other rows
	sides         map[string]results.LoadPoint
}

// exhibit fills a table or figure. Its rows are values of an axis or, if it is about rates, the rates of curves.
func (p Paper) exhibit(e study.Exhibit, beside *results.Set) exhibit {
	e.Rows, e.Series = study.AxisName(e.Rows), study.AxisName(e.Series)
	x := exhibit{Exhibit: e, sides: p.sides(beside)}
	for _, c := range e.Columns {
		if m, err := results.MetricByKey(c.Name); err == nil { // others are axes, which the rows show
			x.columns = append(x.columns, exhibitColumn{metric: m.AsRecorded(), unit: c.Unit})
		}
	}
	for _, point := range beside.Points {
		axes := point.Records[0].Axes
		if e.Experiment != "" && axes["sweep"] != e.Experiment || !liesAt(axes, e.Where) {
			continue
		}
		value, onAxis := axes[e.Rows]
		if onAxis || e.Rows != study.RowsOfRates {
			x.put(exhibitRow{value: value, series: axes[e.Series]}, sideOf(point), point.AsLoadPoint())
			continue
		}
		for _, l := range point.MeasuredLoads() {
			value, rate := l.Place()
			x.put(exhibitRow{value: value, series: axes[e.Series], rate: rate}, sideOf(point), l)
		}
	}
	slices.SortStableFunc(x.rows, func(a, b exhibitRow) int {
		return cmp.Or(compareValues(a.series, b.series), cmp.Compare(a.rate, b.rate), compareValues(a.value, b.value))
	})
	x.leaveOutUnmeasured()
	return x
}

// put sets the load point of a side in its row, which is added if it is new. A later load point replaces an earlier one, such as that of another scale.
func (x *exhibit) put(row exhibitRow, side string, l results.LoadPoint) {
	row.sides = map[string]results.LoadPoint{}
	same := func(r exhibitRow) bool { return r.value == row.value && r.series == row.series }
	findOrAdd(&x.rows, same, row).sides[side] = l
}

// leaveOutUnmeasured leaves out the rows that only the publication has, unless nothing was measured at all.
func (x *exhibit) leaveOutUnmeasured() {
	measured := slices.DeleteFunc(slices.Clone(x.rows), func(r exhibitRow) bool {
		_, published := r.sides[claim.Published]
		return published && len(r.sides) == 1
	})
	if len(measured) > 0 {
		x.leftOut, x.rows = len(x.rows)-len(measured), measured
	}
}

// liesAt tells whether axes have the given values.
func liesAt(axes, values map[string]string) bool {
	for axis, value := range values {
		if compareValues(axes[axis], value) != 0 {
			return false
		}
	}
	return true
}

// compareValues orders values of an axis by their magnitude: 1024 and 1KiB are equal.
func compareValues(a, b string) int {
	x, okX := results.Magnitude(a)
	y, okY := results.Magnitude(b)
	if okX && okY {
		return cmp.Compare(x, y)
	}
	return results.CompareNames(a, b)
}

// sideOf is the side that a point belongs to. A study that doesn't tell then from now was run with today's versions.
func sideOf(p results.Point) string {
	if p.Published() {
		return claim.Published
	}
	return cmp.Or(p.Records[0].Axes["when"], claim.Now)
}

// maxColumnsBeside is how many columns of the publication stand once for each side. With more, the table would be too wide, and each
// side has a row of its own.
const maxColumnsBeside = 3

// table shows the sides beside each other if the columns are few, else below each other.
func (x exhibit) table() document.Table {
	if len(x.columns) <= maxColumnsBeside {
		return tableOf(x.sidesBeside(), x.rows)
	}
	var rows []sideRow
	for _, r := range x.rows {
		for _, side := range x.sides {
			if _, ok := r.sides[side]; ok {
				rows = append(rows, sideRow{exhibitRow: r, side: side})
			}
		}
	}
	return tableOf(x.sidesBelow(), rows)
}

// sidesBeside has each column of the publication once for each side.
func (x exhibit) sidesBeside() []columnOf[exhibitRow] {
	columns := x.rowColumns()
	for _, c := range x.columns {
		for _, side := range x.sides {
			column := c.column(side == claim.Published)
			column.Key, column.Name = column.Key+"_"+side, column.Name+"\n"+side
			columns = append(columns, cellColumn(column, func(r exhibitRow) document.Cell { return c.cell(r, side) }))
		}
	}
	return columns
}

// sideRow is one side of a row.
type sideRow struct {
	exhibitRow
	side string
}

// sidesBelow has a row for each side.
func (x exhibit) sidesBelow() []columnOf[sideRow] {
	columns := columnsOf(x.rowColumns(), func(r sideRow) exhibitRow { return r.exhibitRow })
	if len(x.sides) > 1 {
		columns = append(columns, textColumn(document.Column{Key: "of", Name: "of", Row: true}, func(r sideRow) string { return r.side }))
	}
	for _, c := range x.columns {
		columns = append(columns, columnOf[sideRow]{c.column(false), func(r sideRow) document.Cell { return c.cell(r.exhibitRow, r.side) }})
	}
	return columns
}

// rowColumns identify the rows.
func (x exhibit) rowColumns() []columnOf[exhibitRow] {
	name := x.Rows
	if x.Rows == study.RowsOfRates {
		name = "rate"
	}
	value := document.Column{Key: x.Rows, Name: name, Row: true}
	columns := []columnOf[exhibitRow]{textColumn(value, func(r exhibitRow) string { return r.value })}
	if x.Series != "" {
		columns = append(columns, textColumn(document.Column{Key: x.Series, Name: x.Series, Row: true}, func(r exhibitRow) string { return r.series }))
	}
	return columns
}

// column describes the cells of c, in the publication's unit. Published figures have no spread.
func (c exhibitColumn) column(published bool) document.Column {
	out := document.Column{Key: c.metric.Key, Name: wordsOf(c.metric.Key), Unit: c.metric.Unit, Spread: !published}
	if c.unit == "" {
		return out
	}
	out.Key, out.Name = keyInUnit(c.metric.Key, c.unit), out.Name+"\n"+c.unit
	out.Unit = unit.None
	if c.metric.Unit == unit.PerSecond || c.metric.Unit == unit.Count {
		out.Unit = unit.Count // whole, as papers print them
	}
	return out
}

// cell is the figure of a side, in the publication's unit, or how its repetitions ended if they have none.
func (c exhibitColumn) cell(r exhibitRow, side string) document.Cell {
	l, ok := r.sides[side]
	switch {
	case !ok:
		return document.Cell{}
	case len(l.Records) == 0:
		return document.Text(l.Point.Status())
	case r.rate > 0 && !l.Used():
		return document.Text(string(l.Status))
	}
	cell := c.metric.Over(l.Records).Cell()
	factor, err := results.InUnit(c.metric.Unit, c.unit)
	if err != nil || cell.Kind == document.Blank { // there is no error: study.Parse refuses units that don't fit
		return document.Cell{}
	}
	cell.Number, cell.Low, cell.High = cell.Number/factor, cell.Low/factor, cell.High/factor
	return cell
}

// wordsOf is a metric's key in words, without its unit: "publish rate". Its name in other reports, "published", would be taken for
// the paper's figure.
func wordsOf(key string) string {
	for _, suffix := range []string{"_ns", "_bytes", "_s", "_pct", "_low"} {
		key = strings.TrimSuffix(key, suffix)
	}
	return strings.ReplaceAll(key, "_", " ")
}

// keyInUnit is a metric's key with another unit: e2e_mean_ns in ms is e2e_mean_ms. A key without a unit stays as it is.
func keyInUnit(key, unit string) string {
	suffix := strings.ToLower(strings.NewReplacer("/", "_per_", "%", "pct", "µ", "u").Replace(unit))
	for _, own := range []string{"_ns", "_bytes", "_s"} {
		if stem, ok := strings.CutSuffix(key, own); ok {
			return stem + "_" + suffix
		}
	}
	return key
}
