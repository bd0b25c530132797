// The tables and figures of a publication, here called exhibits, filled from records. Each figure stands
// beside its repetition, in the paper's unit:
//
//	size    e2e mean ms   e2e mean ms   e2e mean ms
//	        published     then          now
//	100     12.1          11.8          4.2

package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// addExhibits adds the tables and figures of the publication in its order.
func (p Paper) addExhibits(d *document.Document, own *results.Set) {
	if len(p.Study.Exhibits) == 0 {
		return
	}
	d.Add(document.Heading{Level: 2, Text: p.choose("The paper's tables and figures", "Tables and figures")})
	if p.isPublished() {
		d.Say(results.PublishedNote)
	}
	for _, e := range p.Study.Exhibits {
		d.Add(document.Heading{Level: 3, Text: joinNonEmpty(", ", e.Title, e.Place)})
		d.Say(e.Note)
		x := p.fillExhibit(e, own)
		if len(x.rows) == 0 {
			d.Say(p.choose("Nothing of it was measured, and the paper gives no figures of it.", "Nothing of it was measured."))
			continue
		}
		d.Add(x.table())
		if x.leftOut > 0 {
			d.Say(fmt.Sprintf("The paper has %s more, of values that were not measured here.", plural(x.leftOut, "row")))
		}
		if x.notShown > 0 {
			d.Say(fmt.Sprintf("Left out: %s with the same place as another, such as those of another scale. The latest that ended ok is shown.",
				plural(x.notShown, "measurement")))
		}
	}
}

// exhibit is a table or figure of the publication, filled from records. Each row is one value of a setting,
// such as a message size, or one rate of a curve. study.Exhibit.Rows names the setting. If the exhibit has a
// further setting, Series, there is a row for each pair of values.
type exhibit struct {
	study.Exhibit
	sides   []string // that have content, in the order of their columns
	columns []exhibitColumn
	rows    []exhibitRow
	leftOut int // rows of the publication that were not measured

	notShown int // load points in whose place another is shown
}

// exhibitColumn is a column of the publication.
type exhibitColumn struct {
	metric results.Metric
	unit   string // the publication's, such as "ms"; empty if it is the metric's own
}

// exhibitRow has the load points of all sides at one value of the rows and of the series. A load point
// is one load of a point, over its repetitions.
type exhibitRow struct {
	value, series string
	rate          float64                      // orders the rates of a curve; 0 for other rows
	loadPoints    map[string]results.LoadPoint // by side
	onlySide      string                       // the side that is shown, if each has a row of its own
}

// fillExhibit finds the load points for every row of a table or figure.
func (p Paper) fillExhibit(e study.Exhibit, own *results.Set) exhibit {
	e.Rows, e.Series = study.AxisName(e.Rows), study.AxisName(e.Series)
	x := exhibit{Exhibit: e, sides: p.measuredSides(own)}
	if len(p.Figures) > 0 {
		x.sides = append([]string{claim.Published}, x.sides...)
	}
	for _, c := range e.Columns {
		m, err := results.MetricByKey(c.Name)
		if err == nil { // other columns are settings, which the rows show
			x.columns = append(x.columns, exhibitColumn{metric: m.AsRecorded(), unit: c.Unit})
		}
	}
	for _, point := range own.Points {
		axes := point.Records[0].Axes
		isOfExperiment := e.Experiment == "" || e.Experiment == axes["sweep"]
		if isOfExperiment && hasValues(axes, e.Where) {
			x.addPoint(point, axes)
		}
	}
	slices.SortStableFunc(x.rows, func(a, b exhibitRow) int {
		return cmp.Or(
			results.CompareValues(a.series, b.series),
			cmp.Compare(a.rate, b.rate),
			results.CompareValues(a.value, b.value),
		)
	})
	x.leaveOutUnmeasured()
	return x
}

// addPoint puts a point with these axis values in its row, or each rate of its curve in a row of its own.
func (x *exhibit) addPoint(point results.Point, axes map[string]string) {
	row := exhibitRow{value: axes[x.Rows], series: axes[x.Series]}
	_, onAxis := axes[x.Rows]
	if onAxis || x.Rows != study.RowsOfRates {
		x.put(row, sideOf(point), point.AsLoadPoint())
		return
	}
	for _, l := range point.MeasuredLoads() {
		row.value, row.rate = l.Offered()
		x.put(row, sideOf(point), l)
	}
}

// put sets the load point of a side in the row with the same value and series, which is added if it is
// new. Of several load points, such as those of two scales, it keeps the latest that ended ok.
func (x *exhibit) put(row exhibitRow, side string, l results.LoadPoint) {
	i := slices.IndexFunc(x.rows, func(r exhibitRow) bool { return r.value == row.value && r.series == row.series })
	if i < 0 {
		i = len(x.rows)
		row.loadPoints = map[string]results.LoadPoint{}
		x.rows = append(x.rows, row)
	}
	shown, taken := x.rows[i].loadPoints[side]
	if taken {
		x.notShown++
	}
	if !taken || goesBefore(l, shown) {
		x.rows[i].loadPoints[side] = l
	}
}

// goesBefore tells whether load point a is shown rather than b: because only a ended ok, or because a is later.
func goesBefore(a, b results.LoadPoint) bool {
	if a.Used() != b.Used() {
		return a.Used()
	}
	return lastBegan(a).After(lastBegan(b))
}

// lastBegan is when the last repetition of a load point's point began.
func lastBegan(l results.LoadPoint) time.Time {
	var last time.Time
	for _, r := range l.Point.Records {
		if r.Began.After(last) {
			last = r.Began
		}
	}
	return last
}

// leaveOutUnmeasured leaves out the rows that only the publication has, unless nothing was measured at
// all.
func (x *exhibit) leaveOutUnmeasured() {
	measured := slices.DeleteFunc(slices.Clone(x.rows), func(r exhibitRow) bool {
		_, published := r.loadPoints[claim.Published]
		return published && len(r.loadPoints) == 1
	})
	if len(measured) > 0 {
		x.leftOut, x.rows = len(x.rows)-len(measured), measured
	}
}

// hasValues tells whether axes have the given values.
func hasValues(axes, values map[string]string) bool {
	for axis, value := range values {
		if !results.SameValue(axes[axis], value) {
			return false
		}
	}
	return true
}

// maxColumnsBeside is how many columns of a publication are repeated for each side. More would make the
// table too wide.
const maxColumnsBeside = 3

// table sets the sides beside each other if the columns are few, and else below each other.
func (x exhibit) table() document.Table {
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

// tableWithSidesBelow has a row for each row of the publication and each side that has it.
func (x exhibit) tableWithSidesBelow() document.Table {
	columns := x.rowColumns()
	if len(x.sides) > 1 {
		columns = append(columns, textColumn(document.Column{Key: "of", Name: "of", Identifies: true},
			func(r exhibitRow) string { return r.onlySide }))
	}
	for _, c := range x.columns {
		columns = append(columns, cellColumn(c.column(), func(r exhibitRow) document.Cell { return c.cell(r, r.onlySide) }))
	}
	var rows []exhibitRow
	for _, r := range x.rows {
		for _, side := range x.sides {
			if _, ok := r.loadPoints[side]; ok {
				r.onlySide = side
				rows = append(rows, r)
			}
		}
	}
	return tableOf("", columns, rows)
}

// rowColumns identify the rows.
func (x exhibit) rowColumns() []columnOf[exhibitRow] {
	name := x.Rows
	if x.Rows == study.RowsOfRates {
		name = "rate"
	}
	columns := []columnOf[exhibitRow]{
		textColumn(document.Column{Key: x.Rows, Name: name, Identifies: true}, func(r exhibitRow) string { return r.value }),
	}
	if x.Series != "" {
		columns = append(columns, textColumn(document.Column{Key: x.Series, Name: x.Series, Identifies: true},
			func(r exhibitRow) string { return r.series }))
	}
	return columns
}

// column describes the cells of c, in the publication's unit.
func (c exhibitColumn) column() document.Column {
	column := document.Column{Key: c.metric.Key, Name: metricWords(c.metric.Key), Unit: c.metric.Unit, Spread: true}
	if c.unit == "" {
		return column
	}
	column.Key, column.Name = keyInUnit(c.metric.Key, c.unit), column.Name+"\n"+c.unit
	column.Unit = unit.None
	if c.metric.Unit == unit.PerSecond || c.metric.Unit == unit.Count {
		column.Unit = unit.Count // whole, as papers print them
	}
	return column
}

// cell is the figure of a side, in the publication's unit, or how its repetitions ended if they have none.
func (c exhibitColumn) cell(r exhibitRow, side string) document.Cell {
	l, ok := r.loadPoints[side]
	isCurveRate := r.rate > 0
	switch {
	case !ok:
		return document.Cell{}
	case len(l.Records) == 0:
		return document.Text(l.Point.Status())
	case isCurveRate && !l.Used():
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

// metricWords is a metric's key in words, without its unit: "publish rate". The metric's name in other
// reports, "published", would be taken for the paper's figure.
func metricWords(key string) string {
	for _, suffix := range []string{"_ns", "_bytes", "_s", "_pct", "_low"} {
		key = strings.TrimSuffix(key, suffix)
	}
	return strings.ReplaceAll(key, "_", " ")
}

// keyInUnit is a metric's key with another unit: e2e_mean_ns in ms is e2e_mean_ms. A key without a unit
// stays as it is.
func keyInUnit(key, unitName string) string {
	suffix := strings.ToLower(strings.NewReplacer("/", "_per_", "%", "pct", "µ", "u").Replace(unitName))
	for _, own := range []string{"_ns", "_bytes", "_s"} {
		if stem, ok := strings.CutSuffix(key, own); ok {
			return stem + "_" + suffix
		}
	}
	return key
}
