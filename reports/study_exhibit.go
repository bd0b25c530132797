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
	"time"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// mostCells bounds the figures of all exhibits together, and the verdicts of a search's trials: each takes some 10 µs.
const mostCells = 200_000

// addExhibits adds the tables and figures of the publication in its order.
func (p Paper) addExhibits(d *document.Document, own *results.Set) {
	if len(p.Study.Exhibits) == 0 {
		return
	}
	d.Add(document.Heading{Level: 2, Text: p.choose("The paper's tables and figures", "Tables and figures")})
	if p.isPublished() {
		d.Say(results.PublishedNote)
	}
	cells := 0
	for i, e := range p.Study.Exhibits {
		d.Add(document.Heading{Level: 3, Text: lists.Join(", ", e.Title, e.Place)})
		d.Say(e.Note)
		x := p.fillExhibit(e, own)
		if len(x.rows) == 0 {
			d.Say(p.choose("Nothing of it was measured, and the paper gives no figures of it.", "Nothing of it was measured."))
			continue
		}
		if cells += len(x.rows) * len(x.columns) * len(x.sides); cells > mostCells {
			d.Say("It has too many rows and columns to be shown.")
			continue
		}
		d.Add(x.table(), x.drawing(p.drawingName(i)))
		if alike := x.similarities(); len(alike) > 0 {
			d.Add(tableOf("How alike the rows are", similarityColumns, alike))
		}
		if x.leftOut > 0 {
			d.Say(fmt.Sprintf("The paper has %s more, of values that were not measured here.", unit.Counted(x.leftOut, "row")))
		}
		if x.notShown > 0 {
			d.Say(fmt.Sprintf("Left out: %s with the same place as another, such as those of another scale. The latest that ended ok is shown.",
				unit.Counted(x.notShown, "measurement")))
		}
	}
}

// exhibit is a table or figure of the publication, filled from records. Each row is one value of a setting, such as a message size, or one
// rate of a curve; study.Exhibit.Rows names the setting. If the exhibit has a further setting, Series, there is a row for each pair of values.
type exhibit struct {
	study.Exhibit
	sides    []string // claim.Published, claim.Then and claim.Now, as far as they have content, in the order of their columns
	columns  []exhibitColumn
	rows     []exhibitRow
	places   map[[2]string]int // in rows, by value and series, until they are sorted
	all      []exhibitRow      // also those of the publication that were not measured
	ofRates  bool              // the rows are the rates of curves
	leftOut  int               // rows of the publication that were not measured
	notShown int               // load points in whose place another is shown
}

// exhibitRow has the load points of all sides at one value of the rows and of the series. A load point is one load of a point, over its
// repetitions.
type exhibitRow struct {
	value, series string
	rate          float64                      // orders the rates of a curve; 0 for other rows
	loadPoints    map[string]results.LoadPoint // by side
}

// fillExhibit finds the load points for every row of a table or figure. Rows that only the publication has are left out, unless nothing was
// measured at all.
func (p Paper) fillExhibit(e study.Exhibit, own *results.Set) exhibit {
	e.Rows, e.Series = study.AxisName(e.Rows), study.AxisName(e.Series)
	x := exhibit{Exhibit: e, sides: p.measuredSides(own), places: map[[2]string]int{}}
	if len(p.Figures) > 0 {
		x.sides = append([]string{claim.Published}, x.sides...)
	}
	for _, c := range e.Columns {
		x.columns = append(x.columns, exhibitColumn{metric: results.MustMetric(c.Name).AsRecorded(), unit: c.Unit}) // ReadPaper checks it
	}
	for _, point := range lists.Filter(own.Points, x.shows) {
		x.addPoint(point)
	}
	slices.SortStableFunc(x.rows, func(a, b exhibitRow) int {
		return cmp.Or(results.CompareValues(a.series, b.series), compareRows(a, b))
	})
	x.all = x.rows
	measured := slices.DeleteFunc(slices.Clone(x.rows), exhibitRow.isOnlyPublished)
	if len(measured) > 0 {
		x.leftOut = len(x.rows) - len(measured)
		x.rows = measured
	}
	return x
}

// compareRows orders the rows of one series.
func compareRows(a, b exhibitRow) int {
	return cmp.Or(cmp.Compare(a.rate, b.rate), results.CompareValues(a.value, b.value))
}

// shows reports whether a point belongs in the exhibit: whether it has the exhibit's experiment and settings.
func (x exhibit) shows(point results.Point) bool {
	axes := point.Records[0].Axes // all records of a point have the same axes
	for axis, value := range x.Where {
		if !results.SameValue(axes[axis], value) {
			return false
		}
	}
	return x.Experiment == "" || x.Experiment == axes["sweep"]
}

// addPoint adds a point to its row. If the rows are the rates of curves, it adds each rate of the point to its row.
func (x *exhibit) addPoint(point results.Point) {
	axes := point.Records[0].Axes
	row := exhibitRow{value: axes[x.Rows], series: axes[x.Series]}
	if _, onAxis := axes[x.Rows]; onAxis || x.Rows != study.RowsOfRates {
		x.addLoadPoint(row, point.AsLoadPoint())
		return
	}
	x.ofRates = true
	for _, l := range point.MeasuredLoads() {
		row.value, row.rate = l.Offered()
		x.addLoadPoint(row, l)
	}
}

// addLoadPoint adds a load point to the row with this value and series. Of several load points of a side in one row, such as those of two
// scales, the latest that ended ok is kept.
func (x *exhibit) addLoadPoint(row exhibitRow, l results.LoadPoint) {
	place := [2]string{row.value, row.series}
	i, there := x.places[place]
	if !there {
		i = len(x.rows)
		x.places[place] = i
		row.loadPoints = map[string]results.LoadPoint{}
		x.rows = append(x.rows, row)
	}
	bySide, side := x.rows[i].loadPoints, claim.SideOf(l.Point)
	shown, taken := bySide[side]
	if taken {
		x.notShown++
	}
	if !taken || isPreferred(l, shown) {
		bySide[side] = l
	}
}

// isOnlyPublished reports whether the row was not measured.
func (r exhibitRow) isOnlyPublished() bool {
	_, published := r.loadPoints[claim.Published]
	return published && len(r.loadPoints) == 1
}

// isPreferred reports whether load point a is shown rather than b: because only a ended ok, or because a is later.
func isPreferred(a, b results.LoadPoint) bool {
	if a.Used() != b.Used() {
		return a.Used()
	}
	return lastBegan(a).After(lastBegan(b))
}

// lastBegan is when the last repetition of a load point's point began.
func lastBegan(l results.LoadPoint) time.Time {
	began := lists.Map(l.Point.Records, func(r results.Record) time.Time { return r.Began })
	return slices.MaxFunc(began, time.Time.Compare)
}
