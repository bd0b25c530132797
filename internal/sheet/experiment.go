package sheet

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/results"
)

// line is a row of an experiment: one point at one load, over its repetitions. If nothing was
// measured, its load point has no records. Records all have a result.
type line struct {
	results.LoadPoint
	status string // of the load point or, if nothing was measured, of the point
	// distributions are the latencies of all repetitions together, by their kind's name; nil if
	// nothing was measured.
	distributions map[string]results.Distribution
}

// experiment writes a sheet of points that one study measured in one way. It has a row for each point
// and load, the usable ones first, so that the charts below are drawn from an unbroken range that
// holds nothing void.
func (b *book) experiment(name string, points []results.Point) {
	sheet := b.sheet(name)
	lines, usable := linesOf(points)
	places := placeColumns(points, lines)
	columns := slices.Concat(places, figureColumns, endingColumns)
	var headings []heading
	for _, c := range columns {
		headings = append(headings, heading{name: c.name, unit: c.unit, width: c.width})
	}
	b.charts(chartSource{sheet: sheet, figuresFrom: len(places) + 1, usable: usable, rows: len(lines), headings: headings})
	var rows [][]any
	for _, l := range lines {
		rows = append(rows, b.cells(l, columns))
	}
	b.table(sheet, headings, 1, slices.Values(rows))
}

// cells are a line's cells under columns, in grey if the line is not usable.
func (b *book) cells(l line, columns []column) []any {
	cells := make([]any, len(columns))
	for i, c := range columns {
		v := c.value(l)
		if v == nil {
			continue
		}
		looks := look{format: c.format, left: c.format == general}
		if !l.Used() {
			looks.role = unused
		}
		cells[i] = excelize.Cell{StyleID: b.style(looks), Value: v}
	}
	return cells
}

// linesOf are the loads of points, the usable ones first, and how many are usable. A point of which
// nothing was measured has a line that says why.
func linesOf(points []results.Point) (lines []line, usable int) {
	var unusable []line
	for _, p := range points {
		loads := p.MeasuredLoads()
		for _, l := range loads {
			measured := line{LoadPoint: l, status: string(l.Status), distributions: map[string]results.Distribution{}}
			for _, kind := range results.LatencyKinds {
				measured.distributions[kind.Name] = l.Distribution(kind)
			}
			if l.Used() {
				lines = append(lines, measured)
			} else {
				unusable = append(unusable, measured)
			}
		}
		if len(loads) == 0 {
			why := p.Records[len(p.Records)-1].Why()
			unmeasured := results.LoadPoint{Point: p, RowTitle: p.Load(), Why: why}
			unusable = append(unusable, line{LoadPoint: unmeasured, status: p.Status()})
		}
	}
	return append(lines, unusable...), len(lines)
}

// placeColumns say which point and load a row is about: a label, the values of the axes, the load.
func placeColumns(points []results.Point, lines []line) []column {
	label := labelOf(points)
	width := 20.0
	for _, l := range lines {
		width = max(width, min(60, float64(utf8.RuneCountInString(label(l)))))
	}
	columns := []column{{name: "label", width: width, value: func(l line) any { return label(l) }}}
	axes := results.Values{}
	for _, p := range points {
		axes.AddAll(p.Records[0].Axes)
	}
	for _, axis := range slices.Sorted(maps.Keys(axes)) {
		columns = append(columns, axisColumn(axis, points))
	}
	return append(columns, column{name: "load", width: 18, value: func(l line) any { return l.RowTitle }})
}

// labelOf names rows: by the point, with its setting and load if the rows of the sheet differ in them:
// "kafka", "kafka, 100 B, at-least-once", "kafka, 100 B, at-least-once, curve 1k/s".
func labelOf(points []results.Point) func(line) string {
	var settings, loads bool
	for _, p := range points {
		settings = settings || p.Setting() != points[0].Setting()
		loads = loads || p.Load() != points[0].Load()
	}
	return func(l line) string {
		text := l.Point.Name
		if settings {
			text += ", " + l.Point.Setting()
		}
		if loads || l.RowTitle != l.Point.Load() {
			text += ", " + l.RowTitle
		}
		return text
	}
}

// axisColumn holds numbers if all values of the axis are numbers, so that it can be sorted and drawn
// along. A value that a number would be shown differently from, such as the version 3.10, makes words
// of them all.
func axisColumn(axis string, points []results.Point) column {
	valueOf := func(p results.Point) string { return p.Records[0].Axes[axis] } // "" if it has none
	numberOf := func(p results.Point) any {
		v, err := strconv.ParseFloat(valueOf(p), 64)
		if err != nil || strconv.FormatFloat(v, 'f', -1, 64) != valueOf(p) {
			return nil
		}
		return numberOrNil(v)
	}
	c := column{name: axis, width: 13}
	if slices.ContainsFunc(points, func(p results.Point) bool { return valueOf(p) != "" && numberOf(p) == nil }) {
		c.value = func(l line) any { return valueOf(l.Point) }
		return c
	}
	c.format = general
	c.value = func(l line) any { return numberOf(l.Point) }
	return c
}

// endingColumns say how a row ended, and which point to look up.
var endingColumns = []column{
	{name: "n", unit: "repetitions", width: 10, format: ones, value: func(l line) any { return len(l.Records) }},
	{name: "status", width: 16, value: func(l line) any { return l.status }},
	{name: "doubts", unit: "kinds", width: 8, format: ones, value: kindsOfDoubts},
	{name: "reason", width: 40, value: func(l line) any { return l.Why.Text }},
	{name: "point", width: 18, value: func(l line) any { return l.Point.ID }},
}

func kindsOfDoubts(l line) any {
	kinds := map[string]bool{}
	for _, r := range l.Records {
		for _, d := range r.Doubts {
			kinds[d.Code] = true
		}
	}
	return len(kinds)
}
