// Package sheet writes stored records as a spreadsheet (XLSX) with real numbers and charts. It knows the format; package results says
// what the numbers mean.
//
//	err := sheet.Write(file, results.Of(records), nil) // without verdicts of gates
//
// A study "window" that measured rates and peaks makes the sheets "window rate" and "window peak" with a row for each point and load,
// and behind them Repetitions, Settings, Points, Doubts and About.
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

// book is a workbook under construction. After the first error its methods do nothing, so callers check err once, at the end.
type book struct {
	file   *excelize.File
	styles map[string]int // IDs, by what they look like
	names  []string       // of the sheets so far, in lower case
	err    error
}

func newBook(title string) *book {
	b := &book{file: excelize.NewFile(), styles: map[string]int{}}
	b.try(func() error { return b.file.SetDocProps(&excelize.DocProperties{Title: title, Creator: "brokermark"}) })
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

// Write makes a workbook of results: a sheet for each experiment (the points that one study measured in one way) with a row for
// each point and load, then the verdicts of gates and objectives, every repetition, the settings, the doubts, and the meaning
// of the columns. No records make a workbook that says so.
func Write(w io.Writer, set *results.Set, judged []gate.Verdict) error {
	records, points := set.Records, set.Points
	b := newBook("Brokermark results")
	defer b.file.Close()
	for _, e := range experiments(points) {
		b.experiment(e)
	}
	b.gates(judged)
	if len(records) > 0 {
		b.repetitions(records)
		b.settings(points)
		b.doubts(points)
	}
	b.about(records)
	return b.write(w)
}

// experiment holds the points that one study measured in one way.
type experiment struct {
	name   string
	points []results.Point
}

func experiments(points []results.Point) []experiment {
	var list []experiment
	for _, g := range results.GroupBy(points, func(p results.Point) string { return strings.TrimSpace(p.Records[0].Study + " " + p.Spec.Measure) }) {
		list = append(list, experiment{name: g.Name, points: g.Members})
	}
	return list
}

// maxName is how many letters the name of a sheet may have.
const maxName = 31

// sheet adds a sheet under a name that the format allows and no other sheet has.
func (b *book) sheet(name string) string {
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

// perPage is how many columns can still be read when they are printed beside each other.
const perPage = 16

// paper sets a sheet across the page, as few pages wide as can be read.
func (b *book) paper(sheet string, columns int) {
	landscape, wide, tall, fit := "landscape", (columns+perPage-1)/perPage, 0, true
	b.try(func() error {
		return b.file.SetPageLayout(sheet, &excelize.PageLayoutOptions{Orientation: &landscape, FitToWidth: &wide, FitToHeight: &tall})
	})
	b.try(func() error { return b.file.SetSheetProps(sheet, &excelize.SheetPropsOptions{FitToPage: &fit}) })
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

// style makes a style once: the number format "" is that of words.
func (b *book) style(format string, s excelize.Style) int {
	bare := s
	bare.Font, bare.Alignment = nil, nil // pointers would make every style another one
	key := fmt.Sprintf("%s %+v", format, bare)
	if s.Font != nil {
		key += fmt.Sprintf(" %+v", *s.Font)
	}
	if s.Alignment != nil {
		key += fmt.Sprintf(" %+v", *s.Alignment)
	}
	if id, known := b.styles[key]; known {
		return id
	}
	if format != "" {
		s.CustomNumFmt = &format
	}
	var id int
	b.try(func() (err error) { id, err = b.file.NewStyle(&s); return err })
	b.styles[key] = id
	return id
}

func (b *book) header() int {
	return b.style("", excelize.Style{
		Font: &excelize.Font{Bold: true}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"DDE8F0"}},
		Alignment: &excelize.Alignment{WrapText: true, Vertical: "center"},
	})
}

// unusedFont is that of figures that aren't used.
var unusedFont = &excelize.Font{Italic: true, Color: "888888"}

func (b *book) title() int { return b.style("", excelize.Style{Font: &excelize.Font{Bold: true}}) }

func (b *book) unit() int {
	return b.style("", excelize.Style{
		Font: &excelize.Font{Italic: true, Color: "666666"}, Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"},
	})
}

// cell is the name of the place at column and row, both from 1.
func cell(column, row int) string {
	name, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		panic("sheet: " + err.Error()) // beyond the format's limit; callers stop at maxRows
	}
	return name
}

// table describes the columns of a sheet.
type table struct {
	header []string
	units  []string  // in parentheses behind the header; nil if there are none
	widths []float64 // in letters
	frozen int       // columns that stay when scrolling
}

const (
	headRows = 1
	maxRows  = 1_000_000 // a little less than the format's limit of 1,048,576

	plainHeadHeight = 30.0 // points: two lines
	unitHeadHeight  = 45.0 // points: three lines
)

// fill writes a table into a sheet: its head, and rows of nil, strings, numbers or excelize cells. It streams rows, because cells kept
// in memory are too many from some ten thousand rows on. The stream ends the sheet, so charts have to be added before.
func (b *book) fill(sheet string, t table, rows iter.Seq[[]any]) {
	b.paper(sheet, len(t.header))
	var w *excelize.StreamWriter
	b.try(func() (err error) { w, err = b.file.NewStreamWriter(sheet); return err })
	b.head(w, t)
	row := headRows + 1
	for values := range rows {
		if row > maxRows {
			break
		}
		b.try(func() error { return w.SetRow(cell(1, row), values) })
		row++
	}
	b.filter(sheet, 1, len(t.header), row-1)
	b.try(func() error { return w.Flush() })
}

// head writes the widths and the names of the columns, which stay when scrolling.
func (b *book) head(w *excelize.StreamWriter, t table) {
	for i, width := range t.widths {
		b.try(func() error { return w.SetColWidth(i+1, i+1, width) })
	}
	b.try(func() error {
		return w.SetPanes(&excelize.Panes{
			Freeze: true, XSplit: t.frozen, YSplit: headRows, TopLeftCell: cell(t.frozen+1, headRows+1), ActivePane: "bottomRight",
		})
	})
	names, height := make([]any, len(t.header)), plainHeadHeight
	for i, name := range t.header {
		if t.units != nil {
			name, height = headed(name, t.units[i]), unitHeadHeight
		}
		names[i] = excelize.Cell{StyleID: b.header(), Value: name}
	}
	b.try(func() error { return w.SetRow(cell(1, 1), names, excelize.RowOpts{Height: height}) })
}

// headed is the name of a column with its unit.
func headed(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// filter lets readers choose among the rows below a header, down to the last.
func (b *book) filter(sheet string, head, columns, last int) {
	if last > head {
		b.try(func() error { return b.file.AutoFilter(sheet, cell(1, head)+":"+cell(columns, last), nil) })
	}
}
