package sheet

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/results"
)

// experiment writes a sheet with a row for each point and load, the usable ones first, so that the charts below are
// drawn from an unbroken range that holds nothing void.
func (b *book) experiment(e experiment) {
	sheet := b.sheet(e.name)
	lines, usable := linesOf(e.points)
	places := placeColumns(e.points, lines)
	columns := slices.Concat(places, figureColumns, endingColumns)
	t := table{frozen: 1}
	for _, c := range columns {
		t.header, t.units, t.widths = append(t.header, c.name), append(t.units, c.unit), append(t.widths, c.width)
	}
	b.charts(chartSource{sheet: sheet, figuresFrom: len(places) + 1, usable: usable, rows: len(lines), widths: t.widths})
	b.fill(sheet, t, func(row func(...any)) {
		for _, l := range lines {
			row(b.cells(l, columns)...)
		}
	})
}

// cells are a line's cells under columns, in grey if the line is not usable.
func (b *book) cells(l line, columns []column) []any {
	cells := make([]any, len(columns))
	for i, c := range columns {
		v := c.of(l)
		if v == nil {
			continue
		}
		style := excelize.Style{}
		if !l.Used() {
			style.Font = &excelize.Font{Italic: true, Color: "888888"}
		}
		if c.format == general {
			style.Alignment = &excelize.Alignment{Horizontal: "left"} // as the words of other axes
		}
		cells[i] = excelize.Cell{StyleID: b.style(c.format, style), Value: v}
	}
	return cells
}

// placeColumns say which point and load a row is about: a label, the values of the axes, the load.
func placeColumns(points []results.Point, lines []line) []column {
	label := labelOf(points)
	width := 20.0
	for _, l := range lines {
		width = max(width, min(60, float64(utf8.RuneCountInString(label(l)))))
	}
	columns := []column{{name: "label", width: width, of: func(l line) any { return label(l) }}}
	for _, axis := range axesOf(points) {
		columns = append(columns, axisColumn(axis, points))
	}
	return append(columns, column{name: "load", width: 18, of: func(l line) any { return l.RowTitle }})
}

// endingColumns say how a row ended, and which point to look up.
var endingColumns = []column{
	{name: "n", unit: "repetitions", format: ones, width: 10, of: func(l line) any { return len(l.Records) }},
	{name: "status", width: 16, of: func(l line) any { return l.status }},
	{name: "doubts", unit: "kinds", format: ones, width: 8, of: kindsOfDoubts},
	{name: "reason", width: 40, of: func(l line) any { return l.Why.Text }},
	{name: "point", width: 18, of: func(l line) any { return l.Point.ID }},
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

// axisColumn holds numbers if all values of the axis are numbers, so that it can be sorted and drawn along. A value that a
// number would be shown differently from, such as the version 3.10, makes words of them all.
func axisColumn(axis string, points []results.Point) column {
	valueOf := func(p results.Point) string { return p.Records[0].Axes[axis] } // a point has a record
	words := slices.ContainsFunc(points, func(p results.Point) bool {
		v, err := strconv.ParseFloat(valueOf(p), 64)
		return valueOf(p) != "" && (err != nil || strconv.FormatFloat(v, 'f', -1, 64) != valueOf(p) || number(v) == nil)
	})
	if words {
		return column{name: axis, width: 13, of: func(l line) any { return valueOf(l.Point) }}
	}
	return column{name: axis, format: general, width: 13, of: func(l line) any {
		v, err := strconv.ParseFloat(valueOf(l.Point), 64)
		if err != nil { // this point has no value on the axis
			return nil
		}
		return v
	}}
}

// labelOf names rows: by the point, with its setting and load if the rows of the sheet differ in them.
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

func axesOf(points []results.Point) []string {
	names := map[string]bool{}
	for _, p := range points {
		for axis := range p.Records[0].Axes {
			names[axis] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// linesOf are the loads of points, the usable ones first, and how many are usable. A point of which nothing was measured has
// a line that says why.
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
			last := p.Records[len(p.Records)-1]
			unusable = append(unusable, line{LoadPoint: results.LoadPoint{Point: p, RowTitle: p.Load(), Why: last.Why()}, status: p.Status()})
		}
	}
	return append(lines, unusable...), len(lines)
}

const (
	maxBarRows        = 40 // more rows are drawn as lines: bars would be too thin
	maxRowsAboveChart = 60 // longer tables get their charts on a sheet of their own, where readers find them

	chartWidth = 640 // pixels
)

// chartSource is where on a sheet the charted rows are.
type chartSource struct {
	sheet       string
	figuresFrom int // number of the first figure column, from 1
	usable      int // rows that are charted; they come first
	rows        int // all rows
	widths      []float64
}

// span names the cells of a column that a chart draws.
func (s chartSource) span(column string) string {
	return fmt.Sprintf("%s!$%s$%d:$%s$%d", quoted(s.sheet), column, headRows+1, column, headRows+s.usable)
}

// series are the figure columns of these names.
func (s chartSource) series(names ...string) []excelize.ChartSeries {
	var series []excelize.ChartSeries
	for i, name := range names {
		letter := letterOf(s.figuresFrom + figureIndex(name))
		series = append(series, excelize.ChartSeries{
			Name: fmt.Sprintf("%s!$%s$1", quoted(s.sheet), letter), Categories: s.span("A"), Values: s.span(letter),
			Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{seriesColours[i%len(seriesColours)]}}, Marker: excelize.ChartMarker{Symbol: "none"},
		})
	}
	return series
}

// charts draws throughput and latency of the usable rows below the table, or on a sheet of their own if the table is long.
func (b *book) charts(s chartSource) {
	if s.usable == 0 || b.err != nil {
		return
	}
	on, row, widths := s.sheet, headRows+s.rows+3, s.widths
	if s.rows > maxRowsAboveChart {
		on, row, widths = b.sheet(s.sheet+" charts"), 2, nil
		b.paper(on, perPage)
	}
	// Set widths before adding charts: excelize computes a chart's extent from them. The stream writer sets them again.
	for i, width := range widths {
		b.try(func() error { return b.file.SetColWidth(on, letterOf(i+1), letterOf(i+1), width) })
	}
	throughput := s.chart("Throughput", "messages/s", s.series("msg/s"))
	latency := s.chart("End-to-end latency", "ms", s.series("min", "avg", "95th", "99th"))
	b.try(func() error { return b.file.AddChart(on, cell(1, row), throughput) })
	b.try(func() error { return b.file.AddChart(on, cell(columnAfter(widths, chartWidth+20), row), latency) })
}

func (s chartSource) chart(title, unit string, series []excelize.ChartSeries) *excelize.Chart {
	kind, legend := excelize.Bar, "bottom"
	if s.usable > maxBarRows {
		kind = excelize.Line
	}
	if len(series) == 1 {
		legend = "none"
	}
	axisFont := excelize.Font{Color: "404040", Size: 9}
	height := uint(max(320, min(900, 90+s.usable*28)))
	return &excelize.Chart{
		VaryColors: new(false),
		Type:       kind, Series: series, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: title}}},
		Legend: excelize.ChartLegend{Position: legend}, Dimension: excelize.ChartDimension{Width: chartWidth, Height: height},
		YAxis: excelize.ChartAxis{Font: axisFont, MajorGridLines: true, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: unit}}}},
		XAxis: excelize.ChartAxis{Font: axisFont, ReverseOrder: kind == excelize.Bar},
	}
}

func letterOf(column int) string {
	text, err := excelize.ColumnNumberToName(column)
	if err != nil {
		panic("sheet: " + err.Error()) // a few dozen columns
	}
	return text
}

// columnAfter is the first column that begins so many pixels to the right; columns without a width have the usual one.
func columnAfter(widths []float64, pixels float64) int {
	// As spreadsheets draw the default font: the usual width in letters, a letter's and a cell's padding in pixels.
	const usual, letter, padding = 8.43, 7, 5
	column := 1
	for ; pixels > 0; column++ {
		width := usual
		if column <= len(widths) {
			width = widths[column-1]
		}
		pixels -= width*letter + padding
	}
	return column
}

// seriesColours are those of the figures.
var seriesColours = []string{"0072B2", "D55E00", "009E73", "CC79A7"}

// quoted is a sheet's name as references to its cells need it.
func quoted(sheet string) string { return "'" + strings.ReplaceAll(sheet, "'", "''") + "'" }
