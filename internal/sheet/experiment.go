// The sheet of an experiment: the points that one study measured in one way. A point is a broker with one complete
// setting, which is measured several times (repetitions), and under one load or more: a curve of 1k/s and 2k/s makes
// two rows.
//
//	label              window  load        msg/s  ...  n  status
//	kafka, curve 1k/s  10      curve 1k/s  1,000       3  ok
//	kafka, curve 2k/s  10      curve 2k/s  1,998       3  ok
//	nats               10      curve                   0  refused    (in grey)

package sheet

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// loadRow is a row of an experiment: one point under one load, over its repetitions. Its Records all have a result;
// there are none if nothing was measured.
type loadRow struct {
	results.LoadPoint
	label  string // "kafka, 100 B, at-least-once, curve 1k/s"
	status string // how the repetitions ended: "ok", "failed 1 of 3, ok 2 of 3"
	reason string // why the first that did not end ok did not; empty if all did
	// distributions are the latencies of all repetitions together, by the name of their kind, such as "e2e".
	distributions map[string]results.Distribution
}

// writeExperiment writes the sheet.
func (b *book) writeExperiment(name string, points []results.Point) {
	sheet := b.addSheet(name)
	loadRows := loadRowsOf(points)
	usable := 0 // rows
	for _, l := range loadRows {
		if l.Used() {
			usable++
		}
	}
	identity := placeColumns(points, loadRows)
	columns := slices.Concat(identity, figureColumns, endingColumns)
	var headings []heading
	for _, c := range columns {
		headings = append(headings, heading{name: c.name, note: c.note, width: c.width})
	}
	var rows [][]any
	for _, l := range loadRows {
		rows = append(rows, b.cells(l, columns))
	}
	// Before the table: once it is written, the sheet takes no charts.
	b.writeCharts(chartSource{sheet: sheet, figuresFrom: len(identity) + 1, usable: usable, rows: len(loadRows), headings: headings})
	b.writeTable(sheet, headings, 1, slices.Values(rows))
}

// cells are a row's cells under columns, in grey if the row can't be used.
func (b *book) cells(l loadRow, columns []column) []any {
	cells := make([]any, len(columns))
	for i, c := range columns {
		v := c.value(l)
		if v == nil {
			continue
		}
		looks := look{format: c.format, left: c.format == general}
		if bound, isBound := v.(lowerBound); isBound {
			v, looks.atLeast = float64(bound), true
		}
		if !l.Used() {
			looks.role = unused
		}
		cells[i] = excelize.Cell{StyleID: b.style(looks), Value: v}
	}
	return cells
}

// loadRowsOf makes the rows of points. Those that can be used come first: charts are drawn from an unbroken range of
// cells, which must hold nothing void. A point of which nothing was measured has a row that says why.
func loadRowsOf(points []results.Point) []loadRow {
	settingsDiffer := slices.ContainsFunc(points, func(p results.Point) bool { return p.Setting() != points[0].Setting() })
	loadsDiffer := slices.ContainsFunc(points, func(p results.Point) bool { return p.Load() != points[0].Load() })
	var usable, unusable []loadRow
	for _, p := range points {
		loads := p.MeasuredLoads()
		if len(loads) == 0 {
			loads = []results.LoadPoint{{Point: p, RowTitle: p.Load()}}
		}
		for _, l := range loads {
			row := loadRow{LoadPoint: l, label: p.Name, distributions: map[string]results.Distribution{}}
			row.status, row.reason = endingOf(l)
			if settingsDiffer {
				row.label += ", " + p.Setting()
			}
			if loadsDiffer || l.RowTitle != p.Load() {
				row.label += ", " + l.RowTitle
			}
			for _, kind := range results.LatencyKinds {
				row.distributions[kind.Name] = l.Distribution(kind)
			}
			if l.Used() {
				usable = append(usable, row)
			} else {
				unusable = append(unusable, row)
			}
		}
	}
	return slices.Concat(usable, unusable)
}

// endingOf says how the repetitions of a load ended, and why not all ended ok. Those of a rate of a curve end by themselves; of them, as of
// its counts, the void ones are left out if others ended ok.
func endingOf(l results.LoadPoint) (status, reason string) {
	ended := results.Point{Records: l.Point.Records}
	if l.Point.Spec.Measure == study.MeasureCurve && len(l.Records) > 0 {
		ended.Records = l.Counted()
	}
	for _, r := range ended.Records {
		if r.Status != results.OK {
			reason = r.Why().Text
			break
		}
	}
	return ended.Status(), reason
}

// placeColumns say which point and load a row is about: by a label, the values of the axes in which points differ, and
// the load.
func placeColumns(points []results.Point, rows []loadRow) []column {
	width := 20.0 // of the labels
	for _, l := range rows {
		width = max(width, min(60, float64(utf8.RuneCountInString(l.label))))
	}
	columns := []column{{name: "label", width: width, value: func(l loadRow) any { return l.label }}}
	axes := results.Values{}
	for _, p := range points {
		axes.AddAll(p.Records[0].Axes)
	}
	for _, axis := range slices.Sorted(maps.Keys(axes)) {
		columns = append(columns, axisColumn(axis, points))
	}
	return append(columns, column{name: "load", width: 18, value: func(l loadRow) any { return l.RowTitle }})
}

// axisColumn holds numbers if all values of the axis are numbers, so that a reader can sort by it and draw along it.
// Otherwise it holds words. The version 3.10 is a word, as the number would be shown as 3.1.
func axisColumn(axis string, points []results.Point) column {
	allNumbers := true
	for _, p := range points {
		text := p.Records[0].Axes[axis] // all records of a point have the same axes
		if _, isNumber := plainNumber(text); text != "" && !isNumber {
			allNumbers = false
		}
	}
	if !allNumbers {
		return column{name: axis, width: 13, value: func(l loadRow) any { return l.Point.Records[0].Axes[axis] }}
	}
	return column{name: axis, width: 13, format: general, value: func(l loadRow) any {
		if v, isNumber := plainNumber(l.Point.Records[0].Axes[axis]); isNumber {
			return v
		}
		return nil
	}}
}

// plainNumber is the number that a text is. It is none if a cell with the number would be shown otherwise: "3.10", "1e3" and "Inf".
func plainNumber(text string) (v float64, isNumber bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strconv.FormatFloat(v, 'f', -1, 64) != text {
		return 0, false
	}
	return v, true
}

// endingColumns say how a row ended, and which point to look up.
var endingColumns = []column{
	{name: "n", note: "repetitions", width: 10, format: ones, value: func(l loadRow) any { return len(l.Records) }},
	{name: "status", width: 16, value: func(l loadRow) any { return l.status }},
	{name: "doubts", width: 20, value: func(l loadRow) any { return results.ClassesText(results.MarkedDoubts(l.Records)) }},
	{name: "reason", width: 40, value: func(l loadRow) any { return l.reason }},
	{name: "point", width: 18, value: func(l loadRow) any { return l.Point.ID }},
}
