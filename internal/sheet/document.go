// A report as a spreadsheet. A column of intervals takes three columns, and every number is in the unit of its heading:
//
//	broker  rate (per second)  rate, low (per second)  rate, high (per second)  e2e p99 (ms)
//	kafka             412,000                 400,000                  425,000         4.900

package sheet

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
)

// Document writes a document as a workbook of one sheet, from top to bottom as it reads: texts as text, tables as cells
// with real numbers, intervals in columns of their own.
func Document(w io.Writer, d document.Document) error {
	b := newBook(d.Title)
	defer b.file.Close()
	p := documentSheet{sheetWriter: b.newSheetWriter(b.addSheet(d.Title), columnWidths(d)), canFilter: len(d.Tables()) == 1, notes: d.Notes()}
	p.text(d.Title, b.style(look{role: title}))
	for _, block := range d.Blocks {
		p.block(block)
	}
	p.finish()
	return b.writeTo(w)
}

// documentSheet is a sheet with the blocks of a document below each other.
type documentSheet struct {
	*sheetWriter
	canFilter bool           // a sheet filters one table at most
	notes     map[int]string // text by mark
}

// columnWidths are widths, in letters, that suit the texts of all tables.
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
			longest := len([]rune(c.name)) + 1
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
	var names []string
	for _, c := range columns {
		names = append(names, c.heading().text())
	}
	hasNotes := slices.ContainsFunc(t.Rows, func(row document.Row) bool { return t.RowNotes(row, p.notes) != nil })
	if hasNotes {
		names = append(names, "notes")
	}
	headerRow := p.row
	p.addRow(p.book.headerCells(names))
	for _, row := range t.Rows {
		var values []any
		for _, c := range columns {
			values = append(values, p.book.value(c, row[c.column.Key]))
		}
		if hasNotes {
			values = append(values, strings.Join(t.RowNotes(row, p.notes), " | "))
		}
		p.addRow(values)
	}
	if p.canFilter {
		p.addFilter(headerRow, len(names))
	}
	p.row++
}

// tableColumn is a column of the sheet that shows a part of a table's column.
type tableColumn struct {
	column   document.Column
	name     string
	part     part
	ownUnits bool // rows have units of their own; a column on the left names them
}

func (c tableColumn) heading() heading {
	if c.ownUnits || c.part == unitPart {
		return heading{name: c.name}
	}
	return heading{name: c.name, unit: scaleOf(c.column.Unit).word}
}

// scale is that of a cell's own unit, or else that of the column's.
func (c tableColumn) scale(cell document.Cell) scale {
	return scaleOf(cmp.Or(cell.Unit, c.column.Unit))
}

// part is what a column of the sheet shows of a table's cells.
type part int

const (
	figurePart part = iota // the figure or the words
	lowPart                // the lower end of the interval
	highPart               // the upper end of the interval
	unitPart               // the unit of the row
)

// tableColumns lists the columns of the sheet that show a table. A column "rate" of intervals becomes three: "rate",
// "rate, low" and "rate, high". If rows have units of their own, a column "unit" stands before them. Neighbours with
// the same units share it.
func tableColumns(t document.Table) []tableColumn {
	var columns []tableColumn
	unitsOf := "" // key of the column whose units were named last
	for _, c := range t.Columns {
		name := cmp.Or(document.OneLine(c.Name), c.Key)
		ownUnits := slices.ContainsFunc(t.Rows, func(row document.Row) bool { return row[c.Key].Unit != unit.None })
		if ownUnits && (unitsOf == "" || !sameUnits(t, unitsOf, c.Key)) {
			unitsOf = c.Key
			columns = append(columns, tableColumn{column: c, name: "unit", part: unitPart})
		}
		columns = append(columns, tableColumn{column: c, name: name, part: figurePart, ownUnits: ownUnits})
		if c.Spread {
			columns = append(columns,
				tableColumn{column: c, name: name + ", low", part: lowPart, ownUnits: ownUnits},
				tableColumn{column: c, name: name + ", high", part: highPart, ownUnits: ownUnits})
		}
	}
	return columns
}

// sameUnits tells whether, in every row, the figure of the column "other" has the unit of the column "named". Words
// have no unit.
func sameUnits(t document.Table, named, other string) bool {
	return !slices.ContainsFunc(t.Rows, func(row document.Row) bool {
		isFigure := row[other].Kind == document.Figure || row[other].Kind == document.Interval
		return isFigure && row[other].Unit != row[named].Unit
	})
}

// number is the number that the column shows of a cell. It is NaN if the cell has none.
func (c tableColumn) number(cell document.Cell) float64 {
	isInterval := cell.Kind == document.Interval
	switch {
	case c.part == figurePart && (isInterval || cell.Kind == document.Figure):
		return cell.Number
	case c.part == lowPart && isInterval:
		return cell.Low
	case c.part == highPart && isInterval:
		return cell.High
	default:
		return math.NaN()
	}
}

// value is what the sheet has of a cell in one of its columns. It is nil if there is nothing: for a blank cell, an
// infinite bound, and the bounds of words.
func (b *book) value(c tableColumn, cell document.Cell) any {
	if c.part == unitPart {
		return excelize.Cell{StyleID: b.style(look{role: unitName}), Value: c.scale(cell).word}
	}
	var looks look
	if cell.Unused {
		looks.role = unused
	}
	if cell.Kind == document.Words {
		if c.part != figurePart {
			return nil
		}
		return excelize.Cell{StyleID: b.style(looks), Value: cell.Text}
	}
	s := c.scale(cell)
	shown := numberOrNil(s.factor * c.number(cell))
	if shown == nil {
		return nil
	}
	looks.format = s.format
	return excelize.Cell{StyleID: b.style(looks), Value: shown}
}

// scale is how numbers of a unit are written in a spreadsheet.
type scale struct {
	word   string  // behind the name of the column
	factor float64 // from the unit to what the sheet holds
	format string
}

var scales = map[unit.Unit]scale{
	unit.None:        {factor: 1, format: "0.####"},
	unit.Count:       {factor: 1, format: ones},
	unit.Nanoseconds: {word: "ms", factor: 1e-6, format: thousandths},
	unit.Seconds:     {word: "s", factor: 1, format: thousandths},
	unit.PerSecond:   {word: "per second", factor: 1, format: ones},
	unit.Bytes:       {word: "bytes", factor: 1, format: ones},
	unit.CPUSeconds:  {word: "CPU seconds", factor: 1, format: thousandths},
	unit.Share:       {word: "%", factor: 100, format: percent},
	unit.Factor:      {word: "×", factor: 1, format: thousandths},
}

// scaleOf panics for a unit without a scale: its numbers would all be 0.
func scaleOf(u unit.Unit) scale {
	s, ok := scales[u]
	if !ok {
		panic(fmt.Sprintf("sheet: there is no scale for the unit %d", u))
	}
	return s
}
