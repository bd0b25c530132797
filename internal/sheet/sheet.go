// Package sheet writes stored records as a spreadsheet (XLSX) with real numbers and charts. It knows
// the format; package results says what the numbers mean.
//
//	err := sheet.Write(file, results.Of(records), nil) // without verdicts of gates
//
// A study "window" that measured rates and peaks makes the sheets "window rate" and "window peak"
// with a row for each point and load, and behind them Repetitions, Settings, Points, Doubts and About.
package sheet

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
)

// Write makes a workbook of results: a sheet for each experiment (the points that one study measured
// in one way) with a row for each point and load, then the verdicts of gates and objectives, every
// repetition, the settings, the doubts, and the meaning of the columns. No records make a workbook
// that says so.
func Write(w io.Writer, set *results.Set, judged []gate.Verdict) error {
	b := newBook("Brokermark results")
	defer b.file.Close()
	experimentOf := func(p results.Point) string { return strings.TrimSpace(p.Records[0].Study + " " + p.Spec.Measure) }
	for _, e := range results.GroupBy(set.Points, experimentOf) {
		b.experiment(e.Name, e.Members)
	}
	b.gates(judged)
	if len(set.Records) > 0 {
		b.repetitions(set.Records)
		b.settings(set.Points)
		b.doubts(set.Points)
	}
	b.about(set.Records)
	return b.write(w)
}

// book is a workbook under construction. After the first error its methods do nothing; write, at the
// end, returns it.
type book struct {
	file   *excelize.File
	styles map[look]int // IDs
	names  []string     // of the sheets so far, in lower case
	err    error
}

func newBook(title string) *book {
	b := &book{file: excelize.NewFile(), styles: map[look]int{}}
	b.try(func() error {
		return b.file.SetDocProps(&excelize.DocProperties{Title: title, Creator: "brokermark"})
	})
	return b
}

// write writes the finished workbook.
func (b *book) write(w io.Writer) error {
	if b.err != nil {
		return fmt.Errorf("make the spreadsheet: %w", b.err)
	}
	return b.file.Write(w)
}

// try does something unless there was an error.
func (b *book) try(do func() error) {
	if b.err == nil {
		b.err = do()
	}
}

// sheet adds an empty sheet. It returns its name: one that the format allows and no other sheet has.
func (b *book) sheet(name string) string {
	const maxName = 31 // letters, by the format
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`[]:*?/\`, r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-")), "' ")
	if name == "" {
		name = "records"
	}
	unique := shortened(name, maxName)
	for i := 2; slices.Contains(b.names, strings.ToLower(unique)); i++ {
		suffix := fmt.Sprintf(" %d", i)
		unique = shortened(name, maxName-len(suffix)) + suffix
	}
	b.names = append(b.names, strings.ToLower(unique))
	if len(b.names) == 1 { // every new file has a sheet already
		b.try(func() error { return b.file.SetSheetName(b.file.GetSheetName(0), unique) })
	} else {
		b.try(func() error { _, err := b.file.NewSheet(unique); return err })
	}
	return unique
}

// shortened keeps n UTF-16 units, which is how spreadsheets count letters.
func shortened(s string, n int) string {
	units := 0
	for i, r := range s {
		units++
		if r > 0xffff {
			units++
		}
		if units > n {
			return strings.TrimRight(s[:i], "' ")
		}
	}
	return s
}

// perPage is how many columns can still be read when they are printed beside each other.
const perPage = 16

// paper sets a sheet across the page, as few pages wide as can be read.
func (b *book) paper(sheet string, columns int) {
	layout := excelize.PageLayoutOptions{
		Orientation: new("landscape"), FitToWidth: new((columns + perPage - 1) / perPage), FitToHeight: new(0),
	}
	b.try(func() error { return b.file.SetPageLayout(sheet, &layout) })
	b.try(func() error { return b.file.SetSheetProps(sheet, &excelize.SheetPropsOptions{FitToPage: new(true)}) })
}

// look is what a cell looks like.
type look struct {
	format string // of numbers; empty for words
	role   role
	left   bool // aligned to the left, as words are
}

// role is what a cell is for.
type role int

const (
	body     role = iota
	unused        // of a row that no conclusion is drawn from
	header        // names a column
	title         // names a table
	unitName      // names the unit of its row
)

// style is the ID of a look, which is made once.
func (b *book) style(l look) int {
	if id, known := b.styles[l]; known {
		return id
	}
	var s excelize.Style
	switch l.role {
	case body: // as it is
	case unused:
		s.Font = &excelize.Font{Italic: true, Color: "888888"}
	case header:
		s.Font = &excelize.Font{Bold: true}
		s.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"DDE8F0"}}
		s.Alignment = &excelize.Alignment{WrapText: true, Vertical: "center"}
	case title:
		s.Font = &excelize.Font{Bold: true}
	case unitName:
		s.Font = &excelize.Font{Italic: true, Color: "666666"}
		s.Alignment = &excelize.Alignment{WrapText: true, Vertical: "top"}
	default:
		panic(fmt.Sprintf("sheet: there is no style for the role %d", l.role))
	}
	if l.left {
		s.Alignment = &excelize.Alignment{Horizontal: "left"}
	}
	if l.format != "" {
		s.CustomNumFmt = &l.format
	}
	var id int
	b.try(func() (err error) { id, err = b.file.NewStyle(&s); return err })
	b.styles[l] = id
	return id
}

// cell is the name of the place at column and row, both from 1.
func cell(column, row int) string {
	name, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		panic("sheet: " + err.Error()) // beyond the format's limit; page.add stops at maxRows
	}
	return name
}

// page is a sheet that is written from the top down. It streams its rows: from some ten thousand on,
// they are too many to be kept in memory.
type page struct {
	book  *book
	sheet string
	out   *excelize.StreamWriter
	row   int // the next, from 1
}

// page begins to write a sheet, with columns of these widths in letters.
func (b *book) page(sheet string, widths []float64) *page {
	b.paper(sheet, len(widths))
	p := &page{book: b, sheet: sheet, row: 1}
	b.try(func() (err error) { p.out, err = b.file.NewStreamWriter(sheet); return err })
	for i, width := range widths {
		b.try(func() error { return p.out.SetColWidth(i+1, i+1, width) })
	}
	return p
}

// maxRows is a little less than the format's limit of 1,048,576.
const maxRows = 1_000_000

// add writes a row of nil, strings, numbers or excelize cells.
func (p *page) add(values []any, options ...excelize.RowOpts) {
	p.book.try(func() error {
		if p.row > maxRows {
			return fmt.Errorf("the sheet %q has more than %d rows; narrow the selection", p.sheet, maxRows)
		}
		return p.out.SetRow(cell(1, p.row), values, options...)
	})
	p.row++
}

// filter lets readers choose among the rows below a header, down to the last.
func (p *page) filter(headerRow, columns int) {
	if last := p.row - 1; last > headerRow {
		p.book.try(func() error {
			return p.book.file.AutoFilter(p.sheet, cell(1, headerRow)+":"+cell(columns, last), nil)
		})
	}
}

// end ends the sheet: charts on it have to be added before.
func (p *page) end() {
	p.book.try(func() error { return p.out.Flush() })
}

// heading is the head of a column.
type heading struct {
	name  string
	unit  string  // in parentheses behind the name; may be empty
	width float64 // in letters
}

func (h heading) text() string {
	if h.unit == "" {
		return h.name
	}
	return h.name + " (" + h.unit + ")"
}

// headerCells are the cells that name columns.
func (b *book) headerCells(names []string) []any {
	var cells []any
	for _, name := range names {
		cells = append(cells, excelize.Cell{StyleID: b.style(look{role: header}), Value: name})
	}
	return cells
}

// headRows is the number of rows above those of a table that has a sheet of its own.
const headRows = 1

// table writes a table into a sheet of its own. The first columns, as many as frozen, and the
// headings stay when scrolling.
func (b *book) table(sheet string, headings []heading, frozen int, rows iter.Seq[[]any]) {
	var widths []float64
	var names []string
	height := 30.0 // points: two lines
	for _, h := range headings {
		widths = append(widths, h.width)
		names = append(names, h.text())
		if h.unit != "" {
			height = 45 // three lines
		}
	}
	p := b.page(sheet, widths)
	b.try(func() error {
		return p.out.SetPanes(&excelize.Panes{
			Freeze: true, XSplit: frozen, YSplit: headRows, TopLeftCell: cell(frozen+1, headRows+1), ActivePane: "bottomRight",
		})
	})
	p.add(b.headerCells(names), excelize.RowOpts{Height: height})
	for values := range rows {
		p.add(values)
	}
	p.filter(headRows, len(headings))
	p.end()
}
