// A report as a sheet. A column of intervals takes three columns, and every number is in the unit of its heading:
//
//	broker  rate (per second)  rate, low (per second)  rate, high (per second)  e2e p99 (ms)
//	kafka             412,000                 400,000                  425,000         4.900

package sheet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/unit"
)

// writeDocument writes a document into a sheet of its own, from top to bottom as it reads: texts as text, tables as cells with real
// numbers, intervals in columns of their own, and below a table the charts that its columns name.
func (b *book) writeDocument(d document.Document) {
	p := documentSheet{
		sheetWriter: b.newSheetWriter(b.addSheet(d.Title), columnWidths(d)),
		canFilter:   len(d.Tables()) == 1,
		notes:       d.Notes(),
	}
	p.text(d.Title, b.style(look{role: title}))
	for _, block := range d.Blocks {
		p.block(block)
	}
	p.finish()
}

// documentSheet is a sheet with the blocks of a document below each other.
type documentSheet struct {
	*sheetWriter
	canFilter bool           // a sheet filters one table at most
	notes     map[int]string // text by mark
}

// columnWidths returns widths, in letters, that suit the texts of all tables.
func columnWidths(d document.Document) []float64 {
	const (
		firstWidth = 21 // of the column that holds the texts
		minWidth   = 14
		maxWidth   = 42
	)
	widths := []float64{firstWidth}
	for _, t := range d.Tables() {
		for i, c := range tableColumns(t) {
			if i == len(widths) {
				widths = append(widths, minWidth)
			}
			longest := len([]rune(c.heading.name)) + 1
			for _, row := range t.Rows {
				longest = max(longest, len([]rune(row[c.column.Key].Text))+1)
			}
			widths[i] = max(widths[i], min(float64(longest), maxWidth))
		}
	}
	return widths
}

func (p *documentSheet) text(text string, style int) {
	p.addRow([]any{excelize.Cell{StyleID: style, Value: text}})
}

func (p *documentSheet) block(b document.Block) {
	switch b := document.Worded(b).(type) {
	case document.Heading:
		p.row++
		p.text(b.Text, p.book.style(look{role: title}))
	case document.Paragraph:
		p.text(b.Text, 0)
	case document.Listing:
		for line := range strings.Lines(b.Text) {
			p.text(strings.TrimRight(line, "\n"), 0)
		}
	case document.Table:
		p.table(b)
	case document.Note: // stands in the rows that point to it
	default:
		panic(fmt.Sprintf("sheet: there is no form for %T", b))
	}
}

// table writes a table with its title, and the footnotes of each row in a last column.
func (p *documentSheet) table(t document.Table) {
	p.row++
	if t.Title != "" {
		p.text(t.Title, p.book.style(look{role: title}))
	}
	columns := tableColumns(t)
	names := lists.Map(columns, func(c tableColumn) string { return c.heading.text() })
	hasNotes := slices.ContainsFunc(t.Rows, func(row document.Row) bool { return t.RowNotes(row, p.notes) != nil })
	if hasNotes {
		names = append(names, "notes")
	}
	headerRow := p.row
	p.addRow(p.book.headerCells(names))
	for _, row := range t.Rows {
		values := lists.Map(columns, func(c tableColumn) any { return p.book.cellIn(c, row[c.column.Key]) })
		if hasNotes {
			values = append(values, strings.Join(t.RowNotes(row, p.notes), " | "))
		}
		p.addRow(values)
	}
	if p.canFilter {
		p.addFilter(headerRow, len(names))
	}
	p.row++
	p.charts(chartSource{table: t, columns: columns, header: headerRow})
}

// heading names a column of the sheet.
type heading struct {
	name string
	unit string // in parentheses behind the name; may be empty
}

func (h heading) text() string {
	if h.unit == "" {
		return h.name
	}
	return h.name + " (" + h.unit + ")"
}

// tableColumn is a column of the sheet. It shows one part of the cells of a document's column.
type tableColumn struct {
	column  document.Column
	part    part
	heading heading
}

// part is what a column of the sheet shows of a document's cells.
type part int

const (
	valuePart part = iota // the number or the words
	lowPart               // the lower end of the interval
	highPart              // the upper end of the interval
	unitPart              // the name of the number's unit
)

// tableColumns lists the columns of the sheet that show a table. A column "rate" of intervals becomes three: "rate",
// "rate, low" and "rate, high". If its rows have different units, a column "unit" stands before it, unless the last one
// to the left of it says the same.
func tableColumns(t document.Table) []tableColumn {
	var columns []tableColumn
	var saysUnits *document.Column // whose units the last column "unit" names; nil if there is none yet
	for _, c := range t.WithBounds().Columns {
		headingUnit := unitFormatOf(c.Unit).name
		if slices.ContainsFunc(t.Rows, func(row document.Row) bool { return row[c.Key].Unit != unit.None }) {
			headingUnit = "" // each row has its own
			if saysUnits == nil || !namesUnitsOf(*saysUnits, c, t.Rows) {
				saysUnits = &c
				columns = append(columns, tableColumn{column: c, part: unitPart, heading: heading{name: "unit"}})
			}
		}
		name := cmp.Or(document.OneLine(c.Name), c.Key)
		columns = append(columns, tableColumn{column: c, part: valuePart, heading: heading{name: name, unit: headingUnit}})
		if c.Spread {
			columns = append(columns,
				tableColumn{column: c, part: lowPart, heading: heading{name: name + ", low", unit: headingUnit}},
				tableColumn{column: c, part: highPart, heading: heading{name: name + ", high", unit: headingUnit}})
		}
	}
	return columns
}

// namesUnitsOf reports whether the units of column a are, row by row, also those of the numbers in column b.
func namesUnitsOf(a, b document.Column, rows []document.Row) bool {
	hasOther := func(row document.Row) bool {
		return row[b.Key].IsNumber() && unitOf(row[a.Key], a) != unitOf(row[b.Key], b)
	}
	return !slices.ContainsFunc(rows, hasOther)
}

// unitOf returns the unit of a cell: its own or, if it has none, that of its column.
func unitOf(cell document.Cell, c document.Column) unit.Unit { return cmp.Or(cell.Unit, c.Unit) }

// cellIn returns what a column of the sheet shows of a document's cell: an excelize.Cell, or nil for an empty one.
func (b *book) cellIn(c tableColumn, cell document.Cell) any {
	u := unitFormatOf(unitOf(cell, c.column))
	var looks look
	if cell.Unused {
		looks.role = unused
	}
	isInterval, isNumber := cell.Kind == document.Interval, cell.IsNumber()
	switch {
	case isNumber && cell.Unused && c.part != unitPart: // words, so that no sum, average or chart takes it in
		if c.part != valuePart {
			return nil
		}
		return excelize.Cell{StyleID: b.style(looks), Value: "(" + unitOf(cell, c.column).Format(cell.Number) + ")"}
	case c.part == unitPart:
		return excelize.Cell{StyleID: b.style(look{role: unitName}), Value: u.name}
	case c.part == valuePart && cell.Kind == document.Words:
		return excelize.Cell{StyleID: b.style(looks), Value: cell.Text}
	case c.part == valuePart && isNumber:
		looks.atLeast = cell.AtLeast
		return b.number(cell.Number, u, looks)
	case c.part == lowPart && isInterval:
		return b.number(cell.Low, u, looks)
	case c.part == highPart && isInterval:
		return b.number(cell.High, u, looks)
	}
	return nil
}

// number returns a cell with a number in the sheet's unit. It returns nil for an unknown number and for an infinite bound.
func (b *book) number(v float64, u unitFormat, looks look) any {
	v *= u.factor
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	looks.format = u.format
	return excelize.Cell{StyleID: b.style(looks), Value: v}
}

// Formats of numbers, by their last digit.
const (
	ones        = "#,##0"
	thousandths = "#,##0.000"
	percent     = "0.0"
)

// unitFormat is how a spreadsheet shows numbers of a unit: nanoseconds as milliseconds, a share of 0.5 as 50.
type unitFormat struct {
	name   string  // behind the name of the column
	factor float64 // from the unit to what the sheet shows
	format string
}

var unitFormats = map[unit.Unit]unitFormat{
	unit.None:        {factor: 1, format: "0.####"},
	unit.Count:       {factor: 1, format: ones},
	unit.Nanoseconds: {name: "ms", factor: 1e-6, format: thousandths},
	unit.Seconds:     {name: "s", factor: 1, format: thousandths},
	unit.PerSecond:   {name: "per second", factor: 1, format: ones},
	unit.Bytes:       {name: "bytes", factor: 1, format: ones},
	unit.CPUSeconds:  {name: "CPU seconds", factor: 1, format: thousandths},
	unit.Share:       {name: "%", factor: 100, format: percent},
	unit.Factor:      {name: "×", factor: 1, format: thousandths},
}

// unitFormatOf panics for a unit without a format: its numbers would all be 0.
func unitFormatOf(u unit.Unit) unitFormat {
	f, ok := unitFormats[u]
	if !ok {
		panic(fmt.Sprintf("sheet: there is no format for the unit %d", u))
	}
	return f
}
