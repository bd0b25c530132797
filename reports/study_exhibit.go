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

// exhibits writes the paper's tables and figures in its order: published, then and now beside each other.
func (p Paper) exhibits(d *document.Document, beside *results.Set) {
	if len(p.Study.Exhibits) == 0 {
		return
	}
	d.Add(document.Heading{Level: 2, Text: p.words().exhibits})
	if p.isPublished() {
		d.Say(results.PublishedNote)
	}
	for _, e := range p.Study.Exhibits {
		d.Add(document.Heading{Level: 3, Text: strings.TrimSpace(e.Title + ", " + e.Place)})
		if e.Place == "" {
			d.Blocks[len(d.Blocks)-1] = document.Heading{Level: 3, Text: e.Title}
		}
		d.Say(e.Note)
		x := p.exhibit(e, beside)
		if len(x.rows) == 0 {
			d.Say(p.words().unmeasured)
			continue
		}
		d.Add(x.table())
		if x.left > 0 {
			d.Say(fmt.Sprintf("The paper has %s more, of values that were not measured here.", plural(x.left, "row")))
		}
	}
}

// exhibit is a table or figure of the paper, filled from records.
type exhibit struct {
	study.Exhibit
	sides   []string
	metrics []results.Metric
	units   []string
	rows    []exhibitRow
	left    int // rows of the paper that were not measured
}

// exhibitRow is a row of an exhibit: the load point of each side.
type exhibitRow struct {
	at, series string
	order      float64 // of rates of a curve
	sides      map[string]results.LoadPoint
}

func (p Paper) exhibit(e study.Exhibit, beside *results.Set) exhibit {
	e.Rows, e.Series = study.AxisName(e.Rows), study.AxisName(e.Series)
	x := exhibit{Exhibit: e, sides: p.sides(beside)}
	for _, c := range e.Columns {
		if m, err := results.MetricByKey(c.Name); err == nil {
			x.metrics, x.units = append(x.metrics, m.AsRecorded()), append(x.units, c.Unit)
		}
	}
	for _, point := range beside.Points {
		axes := point.Records[0].Axes
		if e.Experiment != "" && axes["sweep"] != e.Experiment || !within(axes, e.Where) {
			continue
		}
		if value, axis := axes[e.Rows]; axis || e.Rows != study.RowsOfRates {
			x.put(exhibitRow{at: value, series: axes[e.Series]}, sideOf(point), point.AsLoadPoint())
			continue
		}
		for _, l := range point.MeasuredLoads() {
			at, order := l.Place()
			x.put(exhibitRow{at: at, series: axes[e.Series], order: order}, sideOf(point), l)
		}
	}
	slices.SortStableFunc(x.rows, func(a, b exhibitRow) int {
		return cmp.Or(compareValues(a.series, b.series), cmp.Compare(a.order, b.order), compareValues(a.at, b.at))
	})
	x.keepMeasured()
	return x
}

// put sets the load point of a side in its row. A later one replaces an earlier one, such as that of another scale.
func (x *exhibit) put(at exhibitRow, side string, what results.LoadPoint) {
	i := slices.IndexFunc(x.rows, func(r exhibitRow) bool { return r.at == at.at && r.series == at.series })
	if i < 0 {
		i, at.sides = len(x.rows), map[string]results.LoadPoint{}
		x.rows = append(x.rows, at)
	}
	x.rows[i].sides[side] = what
}

// keepMeasured leaves out the rows that only the paper has, unless nothing was measured at all.
func (x *exhibit) keepMeasured() {
	kept := slices.DeleteFunc(slices.Clone(x.rows), func(r exhibitRow) bool {
		_, there := r.sides[claim.Published]
		return len(r.sides) == 1 && there
	})
	if len(kept) > 0 {
		x.left, x.rows = len(x.rows)-len(kept), kept
	}
}

func within(axes, where map[string]string) bool {
	for axis, value := range where {
		if compareValues(axes[axis], value) != 0 {
			return false
		}
	}
	return true
}

// compareValues orders values of an axis by their magnitude.
func compareValues(a, b string) int {
	x, okx := results.Magnitude(a)
	y, oky := results.Magnitude(b)
	if okx && oky {
		return cmp.Compare(x, y)
	}
	return results.CompareNames(a, b)
}

func sideOf(p results.Point) string {
	if p.Published() {
		return claim.Published
	}
	return cmp.Or(p.Records[0].Axes["when"], claim.Now)
}

// mostBeside is how many of the paper's columns stand once for each side; more make a row for each side instead.
const mostBeside = 3

// heading is the name of the rows.
func (x exhibit) heading() string {
	if x.Rows == study.RowsOfRates {
		return "rate"
	}
	return x.Rows
}

// table shows the sides beside each other if the columns are few, else below each other.
func (x exhibit) table() document.Table {
	if len(x.metrics) > mostBeside {
		return x.sidesInRows()
	}
	t := document.Table{Columns: x.placeColumns()}
	for i := range x.metrics {
		for _, side := range x.sides {
			t.Columns = append(t.Columns, x.column(i, side))
		}
	}
	for _, r := range x.rows {
		row := x.placeCells(r)
		for i := range x.metrics {
			for _, side := range x.sides {
				row[x.column(i, side).Key] = x.cell(r, side, i)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// sidesInRows has a row for each side of each place.
func (x exhibit) sidesInRows() document.Table {
	t := document.Table{Columns: x.placeColumns()}
	if len(x.sides) > 1 {
		t.Columns = append(t.Columns, document.Column{Key: "of", Name: "of", Row: true})
	}
	for i := range x.metrics {
		t.Columns = append(t.Columns, x.column(i, ""))
	}
	for _, r := range x.rows {
		for _, side := range x.sides {
			if _, there := r.sides[side]; !there {
				continue
			}
			row := x.placeCells(r)
			if len(x.sides) > 1 {
				row["of"] = document.Text(side)
			}
			for i := range x.metrics {
				row[x.column(i, "").Key] = x.cell(r, side, i)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// placeColumns identify the rows.
func (x exhibit) placeColumns() []document.Column {
	columns := []document.Column{{Key: x.Rows, Name: x.heading(), Row: true}}
	if x.Series != "" {
		columns = append(columns, document.Column{Key: x.Series, Name: x.Series, Row: true})
	}
	return columns
}

func (x exhibit) placeCells(r exhibitRow) document.Row {
	row := document.Row{x.Rows: document.Text(r.at)}
	if x.Series != "" {
		row[x.Series] = document.Text(r.series)
	}
	return row
}

// column is a column of the paper, in the paper's unit.
func (x exhibit) column(i int, side string) document.Column {
	m, name := x.metrics[i], x.units[i]
	c := document.Column{Key: m.Key, Name: plainName(m.Key), Unit: m.Unit, Spread: side != claim.Published}
	if name != "" {
		c.Key, c.Unit = inKey(m.Key, name), unit.None
		if m.Unit == unit.PerSecond || m.Unit == unit.Count {
			c.Unit = unit.Count // whole, as the papers print them
		}
		c.Name += "\n" + name
	}
	if side != "" {
		c.Key, c.Name = c.Key+"_"+side, c.Name+"\n"+side
	}
	return c
}

// unitOf are the endings of metric keys that name a unit.
var unitOf = []string{"_ns", "_bytes", "_s", "_pct", "_low"}

// plainName is a metric's key in words: "publish rate", because its name in other reports, published, would be taken for
// the paper's figure.
func plainName(key string) string {
	for _, suffix := range unitOf {
		key = strings.TrimSuffix(key, suffix)
	}
	return strings.ReplaceAll(key, "_", " ")
}

// inKey is a metric's key with another unit: e2e_mean_ns in ms is e2e_mean_ms.
func inKey(key, name string) string {
	word := strings.ToLower(strings.NewReplacer("/", "_per_", "%", "pct", "µ", "u").Replace(name))
	for _, suffix := range []string{"_ns", "_bytes", "_s"} {
		if short, ok := strings.CutSuffix(key, suffix); ok {
			return short + "_" + word
		}
	}
	return key
}

func (x exhibit) cell(r exhibitRow, side string, i int) document.Cell {
	l, there := r.sides[side]
	if !there {
		return document.Cell{}
	}
	switch {
	case len(l.Records) == 0:
		return document.Text(l.Point.Status())
	case r.order > 0 && !l.Used():
		return document.Text(string(l.Status))
	}
	cell := x.metrics[i].Over(l.Records).Cell()
	factor, err := results.InUnit(x.metrics[i].Unit, x.units[i])
	if err != nil || cell.Kind == document.Blank {
		return document.Cell{}
	}
	cell.Number, cell.Low, cell.High = cell.Number/factor, cell.Low/factor, cell.High/factor
	return cell
}
