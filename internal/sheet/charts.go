// The charts of a document's tables, below each table. A chart holds no numbers; it points to ranges of cells, such as 'Head to
// head'!$F$12:$F$15. A cell whose figure is unused holds words, so no chart draws it.

package sheet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
)

// Sizes in pixels.
const (
	chartWidth     = 640
	chartFrame     = 110 // height around the bars
	barHeight      = 18
	minChartHeight = 240
	rowHeight      = 20 // of a row of the usual height
)

// chartSource says where on a sheet a table is that charts draw.
type chartSource struct {
	table   document.Table
	columns []tableColumn
	header  int // row of the names of the columns
}

// charts writes the charts of a table at the next row, one below the other. There is nothing to draw with fewer than two rows.
func (p *documentSheet) charts(s chartSource) {
	if len(s.table.Rows) < 2 {
		return
	}
	for _, about := range s.table.Charts() {
		series := s.series(p.sheet, about)
		if len(series) == 0 {
			continue
		}
		height := max(minChartHeight, chartFrame+barHeight*len(series)*len(s.table.Rows))
		chart := barChart(about, unitFormatOf(s.unit(about)).name, series, height)
		p.book.try(func() error { return p.book.file.AddChart(p.sheet, cell(1, p.row), chart) })
		p.row += height/rowHeight + 2
	}
}

// unit returns the unit of a chart's first column; a chart has one scale.
func (s chartSource) unit(about document.Chart) unit.Unit {
	i := slices.IndexFunc(s.table.Columns, func(c document.Column) bool { return c.Chart == about })
	return s.table.Columns[i].Unit
}

// series returns a series for each column of a chart in which a row has a usable figure.
func (s chartSource) series(sheet string, about document.Chart) []excelize.ChartSeries {
	var series []excelize.ChartSeries
	for i, c := range s.columns {
		if c.part != valuePart || c.column.Chart != about || !slices.ContainsFunc(s.table.Rows, c.isUsed) {
			continue
		}
		series = append(series, excelize.ChartSeries{
			Name:       fmt.Sprintf("%s!$%s$%d", quoted(sheet), letterOf(i+1), s.header),
			Categories: s.span(sheet, s.names()),
			Values:     s.span(sheet, i),
			Fill:       excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{seriesColours[len(series)%len(seriesColours)]}},
		})
	}
	return series
}

// isUsed reports whether the column's cell in row has a figure that is drawn.
func (c tableColumn) isUsed(row document.Row) bool {
	cell := row[c.column.Key]
	return (cell.Kind == document.Figure || cell.Kind == document.Interval) && !cell.Unused
}

// names returns the index of the column that names the rows.
func (s chartSource) names() int {
	isLabel := func(c tableColumn) bool { return c.column.Label }
	if i := slices.IndexFunc(s.columns, isLabel); i >= 0 {
		return i
	}
	return max(0, slices.IndexFunc(s.columns, func(c tableColumn) bool { return c.column.Identifies }))
}

// span names the cells of the table in the column with this index.
func (s chartSource) span(sheet string, column int) string {
	letter := letterOf(column + 1)
	return fmt.Sprintf("%s!$%s$%d:$%s$%d", quoted(sheet), letter, s.header+1, letter, s.header+len(s.table.Rows))
}

// barChart returns a chart with a horizontal bar for each row and series, the first row at the top.
func barChart(about document.Chart, unitName string, series []excelize.ChartSeries, height int) *excelize.Chart {
	legend := "bottom"
	if len(series) == 1 {
		legend = "none"
	}
	axisFont := excelize.Font{Color: "404040", Size: 9}
	text := func(words string) excelize.ChartTitle {
		return excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: words}}}
	}
	return &excelize.Chart{
		Type:       excelize.Bar,
		Series:     series,
		VaryColors: new(false),
		Title:      text(fmt.Sprintf("%s (%s)", about.Title, about.Better)),
		Legend:     excelize.ChartLegend{Position: legend},
		Dimension:  excelize.ChartDimension{Width: chartWidth, Height: uint(height)},
		XAxis:      excelize.ChartAxis{Font: axisFont, ReverseOrder: true},
		YAxis:      excelize.ChartAxis{Font: axisFont, MajorGridLines: true, Title: text(unitName)},
	}
}

// letterOf returns the name of a column: A for the first.
func letterOf(column int) string {
	text, err := excelize.ColumnNumberToName(column)
	if err != nil {
		panic("sheet: " + err.Error()) // a few dozen columns
	}
	return text
}

// seriesColours are the first four of the palette of package figure: blue, vermillion, green and purple.
var seriesColours = []string{"0072B2", "D55E00", "009E73", "CC79A7"}

// quoted returns a sheet's name as references to its cells need it.
func quoted(sheet string) string { return "'" + strings.ReplaceAll(sheet, "'", "''") + "'" }
