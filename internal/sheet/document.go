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
	b := &book{file: excelize.NewFile(), styles: map[string]int{}}
	defer b.file.Close()
	sheet := b.sheet(d.Title)
	b.try(func() error {
		return b.file.SetDocProps(&excelize.DocProperties{Title: d.Title, Creator: "brokermark"})
	})
	columns := 1
	for _, t := range d.Tables() {
		columns = max(columns, len(placesOf(t)))
	}
	b.paper(sheet, columns)
	var out *excelize.StreamWriter
	b.try(func() (err error) { out, err = b.file.NewStreamWriter(sheet); return err })
	f := flow{book: b, out: out, sheet: sheet, tables: len(d.Tables()), row: 1, notes: d.Notes()}
	f.columns(d)
	f.text(d.Title, b.title())
	for _, block := range d.Blocks {
		f.block(block)
	}
	b.try(func() error { return out.Flush() })
	if b.err != nil {
		return b.err
	}
	return b.file.Write(w)
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

const narrowest, broadest = 14, 42 // of a column, in letters

// columns sets widths that suit the texts of all tables.
func (f *flow) columns(d document.Document) {
	widths := []float64{broadest / 2}
	for _, t := range d.Tables() {
		for i, p := range placesOf(t) {
			if i == len(widths) {
				widths = append(widths, narrowest)
			}
			longest := len([]rune(p.name)) + 1
			for _, row := range t.Rows {
				longest = max(longest, len([]rune(row[p.column.Key].Text))+1)
			}
			widths[i] = max(widths[i], min(float64(longest), broadest))
		}
	}
	for i, width := range widths {
		f.book.try(func() error { return f.out.SetColWidth(i+1, i+1, width) })
	}
}

func (f *flow) add(values ...any) {
	if f.row > mostRows {
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

// place is a column of the sheet: a table's column, or an end of its intervals.
type place struct {
	column document.Column
	name   string
	of     func(document.Cell) float64 // NaN: nothing to show; nil: not the number but the unit of its row
}

func middle(c document.Cell) float64 { return c.Number }

// end is that end of an interval; a single figure has none.
func end(of func(document.Cell) float64) func(document.Cell) float64 {
	return func(c document.Cell) float64 {
		if c.Kind != document.Interval {
			return math.NaN()
		}
		return of(c)
	}
}

func placesOf(t document.Table) []place {
	var places []place
	named := false
	for _, c := range t.Columns {
		name := document.OneLine(c.Name)
		if name == "" {
			name = c.Key
		}
		places = append(places, place{c, name, middle})
		if own := func(row document.Row) bool { return row[c.Key].Unit != unit.None }; slices.ContainsFunc(t.Rows, own) && !named {
			named = true
			places = slices.Insert(places, len(places)-1, place{column: document.Column{Key: c.Key}, name: "unit"})
		}
		if c.Spread {
			low, high := func(c document.Cell) float64 { return c.Low }, func(c document.Cell) float64 { return c.High }
			places = append(places, place{c, name + ", low", end(low)}, place{c, name + ", high", end(high)})
		}
	}
	return places
}

func (f *flow) table(t document.Table) {
	f.row++
	if t.Title != "" {
		f.text(t.Title, f.book.title())
	}
	places := placesOf(t)
	names := []any{}
	for _, p := range places {
		names = append(names, excelize.Cell{StyleID: f.book.header(), Value: headed(p.name, scales[p.column.Unit].word)})
	}
	noted := slices.ContainsFunc(t.Rows, func(row document.Row) bool { return t.RowNotes(row, f.notes) != nil })
	if noted {
		names = append(names, excelize.Cell{StyleID: f.book.header(), Value: "notes"})
	}
	f.add(names...)
	head := f.row - 1
	for _, row := range t.Rows {
		var values []any
		for _, p := range places {
			values = append(values, f.value(p, row[p.column.Key]))
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
	word   string
	factor float64
	format string
}

var scales = map[unit.Unit]scale{
	unit.None: {"", 1, "0.####"}, unit.Count: {"", 1, ones}, unit.Nanoseconds: {"ms", 1e-6, thirds}, unit.Seconds: {"s", 1, thirds},
	unit.PerSecond: {"per second", 1, ones}, unit.Bytes: {"bytes", 1, ones}, unit.CPUSeconds: {"CPU seconds", 1, thirds},
	unit.Share: {"%", 100, percent}, unit.Factor: {"×", 1, thirds},
}

// value is nil for a blank cell and for an infinite bound: nothing is known.
func (f *flow) value(p place, c document.Cell) any {
	look := excelize.Style{}
	if c.Unused {
		look.Font = &excelize.Font{Italic: true, Color: "888888"}
	}
	if p.of == nil {
		return excelize.Cell{StyleID: f.book.unit(), Value: scales[c.Unit].word}
	}
	if c.Kind == document.Words {
		return excelize.Cell{StyleID: f.book.style("", look), Value: c.Text}
	}
	v := number(p.of(c))
	if c.Kind == document.Blank || v == nil {
		return nil
	}
	s := scales[p.column.Unit]
	if c.Unit != unit.None {
		s = scales[c.Unit]
	}
	return excelize.Cell{StyleID: f.book.style(s.format, look), Value: v.(float64) * s.factor}
}
