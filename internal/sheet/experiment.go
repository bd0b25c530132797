package sheet

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/results"
)

// experiment writes a sheet with a row for each point and load, the usable ones first, so that the charts below are
// drawn from an unbroken range that holds nothing void.
func (b *book) experiment(e experiment) {
	sheet := b.sheet(e.name)
	lines := linesOf(e.points)
	slices.SortStableFunc(lines, func(x, y line) int { return rank(x) - rank(y) })
	axes := axesOf(e.points)
	parts := labelPartsOf(e.points)
	label := 20.0
	for _, l := range lines {
		label = max(label, min(60, float64(len([]rune(parts.label(l))))))
	}
	t := table{header: []string{"label"}, units: []string{""}, widths: []float64{label}, frozen: 1}
	add := func(name, unit string, width float64) {
		t.header, t.units, t.widths = append(t.header, name), append(t.units, unit), append(t.widths, width)
	}
	for _, axis := range axes {
		add(axis, "", 13)
	}
	add("load", "", 18)
	for _, c := range columns {
		add(c.name, c.unit, c.width)
	}
	add("n", "repetitions", 10)
	add("status", "", 16)
	add("doubts", "kinds", 8)
	add("reason", "", 40)
	add("point", "", 18)
	used := slices.IndexFunc(lines, func(l line) bool { return !l.Used() })
	if used < 0 {
		used = len(lines)
	}
	b.charts(figureRows{sheet: sheet, first: len(axes) + 2, used: used, rows: len(lines), widths: t.widths})
	b.fill(sheet, t, func(row func(...any)) {
		for _, l := range lines {
			row(b.row(l, axes, parts)...)
		}
	})
}

func rank(l line) int {
	if l.Used() {
		return 0
	}
	return 1
}

func (b *book) row(l line, axes []string, parts labelParts) []any {
	grey := excelize.Style{}
	if !l.Used() {
		grey.Font = &excelize.Font{Italic: true, Color: "888888"}
	}
	words := b.style("", grey)
	put := func(v any, format string) any {
		if v == nil {
			return nil
		}
		style := words
		if format != "" {
			style = b.style(format, grey)
		}
		return excelize.Cell{StyleID: style, Value: v}
	}
	row := []any{put(parts.label(l), "")}
	for _, axis := range axes {
		row = append(row, axisValue(b, l.point.Records[0].Axes[axis], grey))
	}
	row = append(row, put(l.Title, ""))
	for _, c := range columns {
		row = append(row, put(c.of(l), c.format))
	}
	kinds := map[string]bool{}
	for _, r := range l.Records {
		for _, d := range r.Doubts {
			kinds[d.Code] = true
		}
	}
	return append(row, put(len(l.Records), ones), put(l.status, ""), put(len(kinds), ones), put(l.Why.Text, ""), put(l.point.ID, ""))
}

// axisValue is a number where the axis has numbers, so that it can be sorted and drawn along.
func axisValue(b *book, text string, s excelize.Style) any {
	if v, err := strconv.ParseFloat(text, 64); err == nil && number(v) != nil {
		s.Alignment = &excelize.Alignment{Horizontal: "left"} // as the words of other axes
		return excelize.Cell{StyleID: b.style("General", s), Value: v}
	}
	return excelize.Cell{StyleID: b.style("", s), Value: text}
}

// labelParts say what a row's label needs besides the point's name, because the rows of its sheet differ in it.
type labelParts struct{ setting, load bool }

func labelPartsOf(points []results.Point) labelParts {
	var t labelParts
	for _, p := range points {
		t.setting = t.setting || p.Setting() != points[0].Setting()
		t.load = t.load || p.Load() != points[0].Load()
	}
	return t
}

func (t labelParts) label(l line) string {
	text := l.point.Name
	if t.setting {
		text += ", " + l.point.Setting()
	}
	if t.load || l.Title != l.point.Load() {
		text += ", " + l.Title
	}
	return text
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

// linesOf are the loads of points. A point of which nothing was measured has a line that says why.
func linesOf(points []results.Point) []line {
	latencies := map[string]map[string]*results.Distribution{}
	for _, kind := range results.LatencyKinds {
		for _, d := range results.Distributions(points, kind) {
			id := d.Point.ID + "\x00" + d.Load
			if latencies[id] == nil {
				latencies[id] = map[string]*results.Distribution{}
			}
			latencies[id][kind.Name] = &d
		}
	}
	var lines []line
	for i, p := range points {
		loads := results.MeasuredLoads(i, p)
		for _, l := range loads {
			lines = append(lines, line{point: p, LoadPoint: l, status: string(l.Status), distributions: latencies[p.ID+"\x00"+l.Title]})
		}
		if len(loads) == 0 {
			last := p.Records[len(p.Records)-1]
			lines = append(lines, line{point: p, LoadPoint: results.LoadPoint{Title: p.Load(), Why: last.Why()}, status: p.Status()})
		}
	}
	return lines
}

const (
	mostBars  = 40 // more are drawn as lines
	mostAbove = 60 // below more rows nobody would find a chart

	chartWidth = 640
)

// figureRows is where the figures of a sheet's rows stand that charts are drawn of.
type figureRows struct {
	sheet  string
	first  int // the number of the column before the figures
	used   int // rows whose figures count; they come first
	rows   int // all of them
	widths []float64
}

// span names the cells of a column that a chart draws.
func (f figureRows) span(column string) string {
	return fmt.Sprintf("%s!$%s$%d:$%s$%d", quoted(f.sheet), column, headRows+1, column, headRows+f.used)
}

// series are the columns of these names.
func (f figureRows) series(names ...string) []excelize.ChartSeries {
	var list []excelize.ChartSeries
	for i, name := range names {
		letter := letterOf(f.first + 1 + slices.IndexFunc(columns, func(c column) bool { return c.name == name }))
		list = append(list, excelize.ChartSeries{
			Name: fmt.Sprintf("%s!$%s$1", quoted(f.sheet), letter), Categories: f.span("A"), Values: f.span(letter),
			Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{colours[i%len(colours)]}}, Marker: excelize.ChartMarker{Symbol: "none"},
		})
	}
	return list
}

// charts draws throughput and latency of the usable rows below the table, or on a sheet of their own where that is long.
func (b *book) charts(f figureRows) {
	if f.used == 0 || b.err != nil {
		return
	}
	on, row, widths := f.sheet, headRows+f.rows+3, f.widths
	if f.rows > mostAbove {
		on, row, widths = b.sheet(f.sheet+" charts"), 2, nil
		b.paper(on, perPage)
	}
	for i, width := range widths { // the stream will say so, too; charts need it now to know where they end
		b.try(func() error { return b.file.SetColWidth(on, letterOf(i+1), letterOf(i+1), width) })
	}
	throughput := f.chart("Throughput", "messages/s", f.series("msg/s"))
	latency := f.chart("End-to-end latency", "ms", f.series("min", "avg", "95th", "99th"))
	b.try(func() error { return b.file.AddChart(on, cell(1, row), throughput) })
	b.try(func() error { return b.file.AddChart(on, cell(columnAfter(widths, chartWidth+20), row), latency) })
}

func (f figureRows) chart(title, unit string, series []excelize.ChartSeries) *excelize.Chart {
	kind, legend := excelize.Bar, "bottom"
	if f.used > mostBars {
		kind = excelize.Line
	}
	if len(series) == 1 {
		legend = "none"
	}
	letters := excelize.Font{Color: "404040", Size: 9}
	height := uint(max(320, min(900, 90+f.used*28)))
	return &excelize.Chart{
		VaryColors: new(false),
		Type:       kind, Series: series, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: title}}},
		Legend: excelize.ChartLegend{Position: legend}, Dimension: excelize.ChartDimension{Width: chartWidth, Height: height},
		YAxis: excelize.ChartAxis{Font: letters, MajorGridLines: true, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: unit}}}},
		XAxis: excelize.ChartAxis{Font: letters, ReverseOrder: kind == excelize.Bar},
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
	const usual, letter, edges = 8.43, 7, 5
	column := 1
	for ; pixels > 0; column++ {
		width := usual
		if column <= len(widths) {
			width = widths[column-1]
		}
		pixels -= width*letter + edges
	}
	return column
}

// colours are those of the figures.
var colours = []string{"0072B2", "D55E00", "009E73", "CC79A7"}

func quoted(sheet string) string {
	text := "'"
	for _, r := range sheet {
		if r == '\'' {
			text += "'"
		}
		text += string(r)
	}
	return text + "'"
}
