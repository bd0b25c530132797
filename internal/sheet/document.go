package sheet

import (
	"io"
	"math"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
)

// Document writes a document as a workbook of one sheet, from top to bottom as it reads: texts as text, tables as
// cells with real numbers, intervals in columns of their own.
func Document(w io.Writer, d document.Document) error {
	b := newBook(d.Title)
	defer b.file.Close()
	sheet := b.sheet(d.Title)
	columns := 1
	for _, t := range d.Tables() {
		columns = max(columns, len(sheetColumns(t)))
	}
	b.paper(sheet, columns)
	var out *excelize.StreamWriter
	b.try(func() (err error) { out, err = b.file.NewStreamWriter(sheet); return err })
	f := flow{book: b, out: out, sheet: sheet, tables: len(d.Tables()), row: 1, notes: d.Notes()}
	f.setWidths(d)
	f.text(d.Title, b.title())
	for _, block := range d.Blocks {
		f.block(block)
	}
	b.try(func() error { return out.Flush() })
	return b.write(w)
}

// flow is a sheet that is written downwards.
type flow struct {
	book   *book
	out    *excelize.StreamWriter
	sheet  string
	tables int // a sheet filters one at most
	row    int
	notes  map[int]string
}

// Widths of columns, in letters.
const (
	minWidth  = 14
	maxWidth  = 42
	textWidth = 21 // of the first column, which holds the texts
)

// setWidths sets widths that suit the texts of all tables.
func (f *flow) setWidths(d document.Document) {
	widths := []float64{textWidth}
	for _, t := range d.Tables() {
		for i, c := range sheetColumns(t) {
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
	for i, width := range widths {
		f.book.try(func() error { return f.out.SetColWidth(i+1, i+1, width) })
	}
}

// add writes a row.
func (f *flow) add(values ...any) {
	if f.row > maxRows {
		return
	}
	f.book.try(func() error { return f.out.SetRow(cell(1, f.row), values) })
	f.row++
}

func (f *flow) text(text string, style int) { f.add(excelize.Cell{StyleID: style, Value: text}) }

func (f *flow) block(b document.Block) {
	switch b := b.(type) {
	case document.Heading:
		f.row++
		f.text(b.Text, f.book.title())
	case document.Paragraph:
		f.text(b.Text, 0)
	case document.Verdict:
		f.text(b.Text(), 0)
	case document.Listing:
		for line := range strings.Lines(b.Text) {
			f.text(strings.TrimRight(line, "\n"), 0)
		}
	case document.Table:
		f.table(b)
	}
}

// sheetColumn is a column of the sheet: a column of a table, or a part of one.
type sheetColumn struct {
	column document.Column
	name   string
	part   part
}

// part is what a column of the sheet shows of a table's cells.
type part int

const (
	figurePart part = iota // the figure or the words
	lowPart                // the lower end of the interval
	highPart               // the upper end of the interval
	unitPart               // the unit of the row
)

// sheetColumns lists the columns that show a table: intervals have two columns for their ends behind the figure's. If the rows of a
// table have units of their own, a column before the first such figures names them.
func sheetColumns(t document.Table) []sheetColumn {
	var columns []sheetColumn
	unitNamed := false
	for _, c := range t.Columns {
		name := document.OneLine(c.Name)
		if name == "" {
			name = c.Key
		}
		ownUnit := func(row document.Row) bool { return row[c.Key].Unit != unit.None }
		if !unitNamed && slices.ContainsFunc(t.Rows, ownUnit) {
			unitNamed = true
			columns = append(columns, sheetColumn{column: document.Column{Key: c.Key}, name: "unit", part: unitPart})
		}
		columns = append(columns, sheetColumn{column: c, name: name, part: figurePart})
		if c.Spread {
			columns = append(columns, sheetColumn{column: c, name: name + ", low", part: lowPart}, sheetColumn{column: c, name: name + ", high", part: highPart})
		}
	}
	return columns
}

// number is the number that the column shows of a cell. It is NaN for the end of an interval if the cell has none.
func (c sheetColumn) number(cell document.Cell) float64 {
	switch {
	case c.part == figurePart:
		return cell.Number
	case cell.Kind != document.Interval:
		return math.NaN()
	case c.part == lowPart:
		return cell.Low
	}
	return cell.High
}

// table writes a table with its title, and the footnotes of each row in a last column.
func (f *flow) table(t document.Table) {
	f.row++
	if t.Title != "" {
		f.text(t.Title, f.book.title())
	}
	columns := sheetColumns(t)
	names := []any{}
	for _, c := range columns {
		names = append(names, excelize.Cell{StyleID: f.book.header(), Value: headed(c.name, scales[c.column.Unit].word)})
	}
	noted := slices.ContainsFunc(t.Rows, func(row document.Row) bool { return t.RowNotes(row, f.notes) != nil })
	if noted {
		names = append(names, excelize.Cell{StyleID: f.book.header(), Value: "notes"})
	}
	f.add(names...)
	head := f.row - 1
	for _, row := range t.Rows {
		var values []any
		for _, c := range columns {
			values = append(values, f.value(c, row[c.column.Key]))
		}
		if noted {
			values = append(values, strings.Join(t.RowNotes(row, f.notes), " | "))
		}
		f.add(values...)
	}
	if f.tables == 1 {
		f.book.filter(f.sheet, head, len(names), f.row-1)
	}
	f.row++
}

// scale is how numbers of a unit are written in a spreadsheet.
type scale struct {
	word   string  // behind the name of the column
	factor float64 // from the unit to what the sheet holds
	format string
}

var scales = map[unit.Unit]scale{
	unit.None: {"", 1, "0.####"}, unit.Count: {"", 1, ones}, unit.Nanoseconds: {"ms", 1e-6, thirds}, unit.Seconds: {"s", 1, thirds},
	unit.PerSecond: {"per second", 1, ones}, unit.Bytes: {"bytes", 1, ones}, unit.CPUSeconds: {"CPU seconds", 1, thirds},
	unit.Share: {"%", 100, percent}, unit.Factor: {"×", 1, thirds},
}

// value is what the sheet has of a cell in one of its columns. It is nil for a blank cell and for an infinite bound: nothing is known.
func (f *flow) value(c sheetColumn, cell document.Cell) any {
	if c.part == unitPart {
		return excelize.Cell{StyleID: f.book.unit(), Value: scales[cell.Unit].word}
	}
	look := excelize.Style{}
	if cell.Unused {
		look.Font = unusedFont
	}
	if cell.Kind == document.Words {
		return excelize.Cell{StyleID: f.book.style("", look), Value: cell.Text}
	}
	v := c.number(cell)
	if cell.Kind == document.Blank || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	s := scales[c.column.Unit]
	if cell.Unit != unit.None {
		s = scales[cell.Unit]
	}
	return excelize.Cell{StyleID: f.book.style(s.format, look), Value: v * s.factor}
}
