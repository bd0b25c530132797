// The charts of an experiment's sheet: throughput and latency of its rows. A chart holds no numbers; it points to a
// range of cells, such as 'window rate'!$F$2:$F$9. The rows that can be used come first, so their cells are one range.

package sheet

import (
	"fmt"
	"strings"

	"github.com/xuri/excelize/v2"
)

const (
	maxBarRows        = 40 // more rows are drawn as lines: bars would be too thin
	maxRowsAboveChart = 60 // longer tables get their charts on a sheet of their own, where readers find them

	// Sizes in pixels.
	chartWidth     = 640
	chartGap       = 20
	chartFrame     = 90 // height of what is around the bars
	barHeight      = 28
	minChartHeight = 320
	maxChartHeight = 900 // what fits a screen
)

// chartSource says where on a sheet the rows are that charts draw.
type chartSource struct {
	sheet       string
	headings    []heading
	figuresFrom int // number of the first of figureColumns on the sheet, from 1
	usable      int // rows that are drawn; they come first
	rows        int // all rows
}

// span names the cells of a column that a chart draws.
func (s chartSource) span(column string) string {
	return fmt.Sprintf("%s!$%s$%d:$%s$%d", quoted(s.sheet), column, headRows+1, column, headRows+s.usable)
}

// series draw the figure columns with these names, one each, in the colours of seriesColours.
func (s chartSource) series(names ...string) []excelize.ChartSeries {
	var series []excelize.ChartSeries
	for i, name := range names {
		letter := letterOf(s.figuresFrom + figureIndex(name))
		series = append(series, excelize.ChartSeries{
			Name:       fmt.Sprintf("%s!$%s$1", quoted(s.sheet), letter),
			Categories: s.span("A"),
			Values:     s.span(letter),
			Fill:       excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{seriesColours[i%len(seriesColours)]}},
			Marker:     excelize.ChartMarker{Symbol: "none"},
		})
	}
	return series
}

// writeCharts draws throughput and latency of the usable rows below the table, or on a sheet of their own if the table
// is long.
func (b *book) writeCharts(s chartSource) {
	if s.usable == 0 || b.err != nil {
		return
	}
	const gap = 2 // empty rows between the table and the charts
	sheet, row, headings := s.sheet, headRows+s.rows+gap+1, s.headings
	if s.rows > maxRowsAboveChart {
		sheet, row, headings = b.addSheet(s.sheet+" charts"), 2, nil
		b.setPrintLayout(sheet, columnsPerPage)
	}
	// AddChart finds the cell at which a chart ends by the widths that the columns have by then. Those of the table are set only when it is
	// written, after its charts.
	for i, h := range headings {
		b.try(func() error { return b.file.SetColWidth(sheet, letterOf(i+1), letterOf(i+1), h.width) })
	}
	throughput := s.chart("Throughput", "messages/s", s.series("msg/s"))
	latency := s.chart("End-to-end latency", "ms", s.series("min", "avg", "95th", "99th"))
	b.try(func() error { return b.file.AddChart(sheet, cell(1, row), throughput) })
	b.try(func() error {
		return b.file.AddChart(sheet, cell(columnAfter(headings, chartWidth+chartGap), row), latency)
	})
}

// chart is a chart of the usable rows. It is as high as its bars need, within what fits a screen.
func (s chartSource) chart(title, unit string, series []excelize.ChartSeries) *excelize.Chart {
	kind, legend := excelize.Bar, "bottom"
	if s.usable > maxBarRows {
		kind = excelize.Line
	}
	if len(series) == 1 {
		legend = "none"
	}
	axisFont := excelize.Font{Color: "404040", Size: 9}
	height := min(max(chartFrame+s.usable*barHeight, minChartHeight), maxChartHeight)
	return &excelize.Chart{
		Type:       kind,
		Series:     series,
		VaryColors: new(false),
		Title:      excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: title}}},
		Legend:     excelize.ChartLegend{Position: legend},
		Dimension:  excelize.ChartDimension{Width: chartWidth, Height: uint(height)},
		XAxis:      excelize.ChartAxis{Font: axisFont, ReverseOrder: kind == excelize.Bar},
		YAxis: excelize.ChartAxis{
			Font: axisFont, MajorGridLines: true, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: unit}}},
		},
	}
}

// letterOf is the name of a column: A for the first.
func letterOf(column int) string {
	text, err := excelize.ColumnNumberToName(column)
	if err != nil {
		panic("sheet: " + err.Error()) // a few dozen columns
	}
	return text
}

// columnAfter is the first column that begins so many pixels to the right, or further: with columns 75 pixels wide, it
// is the 10th (J) for 660 pixels. Columns without a heading have the usual width.
func columnAfter(headings []heading, pixels float64) int {
	// As spreadsheets draw the default font.
	const (
		usualWidth    = 8.43 // of a column, in letters
		letterPixels  = 7
		paddingPixels = 5 // of a cell
	)
	column := 1
	for ; pixels > 0; column++ {
		width := usualWidth
		if column <= len(headings) {
			width = headings[column-1].width
		}
		pixels -= width*letterPixels + paddingPixels
	}
	return column
}

// seriesColours are the first four of the palette of package figure: blue, vermillion, green and purple.
var seriesColours = []string{"0072B2", "D55E00", "009E73", "CC79A7"}

// quoted is a sheet's name as references to its cells need it.
func quoted(sheet string) string { return "'" + strings.ReplaceAll(sheet, "'", "''") + "'" }
