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

// exhibit is a table or figure of the publication, filled from records. Each row is one value of a setting, such as a message size, or one
// rate of a curve; study.Exhibit.Rows names the setting. If the exhibit has a further setting, Series, there is a row for each pair of values.
type exhibit struct {
	study.Exhibit
	sides    []string // that have content, in the order of their columns
	columns  []exhibitColumn
	rows     []exhibitRow
	leftOut  int // rows of the publication that were not measured
	notShown int // load points in whose place another is shown
}

// exhibitColumn is a column of the publication.
type exhibitColumn struct {
	metric results.Metric
	unit   string // the publication's, such as "ms"; empty if it is the metric's own
}

// exhibitRow has the load points of all sides at one value of the rows and of the series. A load point is one load of a point, over its
// repetitions.
type exhibitRow struct {
	value, series string
	rate          float64                      // orders the rates of a curve; 0 for other rows
	loadPoints    map[string]results.LoadPoint // by side
}

// isOnlyPublished tells whether the row was not measured.
func (r exhibitRow) isOnlyPublished() bool {
	_, published := r.loadPoints[claim.Published]
	return published && len(r.loadPoints) == 1
}

// fillExhibit finds the load points for every row of a table or figure. Rows that only the publication has are left out, unless nothing was
// measured at all. Of several load points for one place, such as those of two scales, the latest that ended ok is shown.
func (p Paper) fillExhibit(e study.Exhibit, own *results.Set) exhibit {
	e.Rows, e.Series = study.AxisName(e.Rows), study.AxisName(e.Series)
	x := exhibit{Exhibit: e, sides: p.measuredSides(own)}
	if len(p.Figures) > 0 {
		x.sides = append([]string{claim.Published}, x.sides...)
	}
	for _, c := range e.Columns {
		x.columns = append(x.columns, exhibitColumn{metric: results.MustMetric(c.Name).AsRecorded(), unit: c.Unit}) // ReadPaper checks it
	}
	var rows []exhibitRow
	for _, g := range results.GroupBy(exhibitEntries(e, own.Points), exhibitEntry.place) {
		first := g.Members[0]
		row := exhibitRow{value: first.value, series: first.series, rate: first.rate, loadPoints: map[string]results.LoadPoint{}}
		for _, entry := range g.Members {
			shown, taken := row.loadPoints[entry.side]
			if taken {
				x.notShown++
			}
			if !taken || isPreferred(entry.load, shown) {
				row.loadPoints[entry.side] = entry.load
			}
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b exhibitRow) int {
		return cmp.Or(
			results.CompareValues(a.series, b.series),
			cmp.Compare(a.rate, b.rate),
			results.CompareValues(a.value, b.value),
		)
	})
	x.rows = slices.DeleteFunc(slices.Clone(rows), exhibitRow.isOnlyPublished)
	if len(x.rows) == 0 {
		x.rows = rows
	}
	x.leftOut = len(rows) - len(x.rows)
	return x
}

// exhibitEntry is one load point and where it stands in an exhibit.
type exhibitEntry struct {
	value, series string // of its row
	rate          float64
	side          string // of its column
	load          results.LoadPoint
}

// place is equal for the entries of one row.
func (e exhibitEntry) place() string { return e.value + "\x00" + e.series }

// exhibitEntries are the points that an exhibit shows. If its rows are rates, a curve has an entry for each of its rates.
func exhibitEntries(e study.Exhibit, points []results.Point) []exhibitEntry {
	var entries []exhibitEntry
	for _, point := range points {
		axes := point.Records[0].Axes
		isOfExperiment := e.Experiment == "" || e.Experiment == axes["sweep"]
		if !isOfExperiment || !hasValues(axes, e.Where) {
			continue
		}
		entry := exhibitEntry{value: axes[e.Rows], series: axes[e.Series], side: sideOf(point), load: point.AsLoadPoint()}
		if _, onAxis := axes[e.Rows]; onAxis || e.Rows != study.RowsOfRates {
			entries = append(entries, entry)
			continue
		}
		for _, l := range point.MeasuredLoads() {
			entry.value, entry.rate = l.Offered()
			entry.load = l
			entries = append(entries, entry)
		}
	}
	return entries
}

// isPreferred tells whether load point a is shown rather than b: because only a ended ok, or because a is later.
func isPreferred(a, b results.LoadPoint) bool {
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
	cell := l.Over(c.metric).Cell()
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
