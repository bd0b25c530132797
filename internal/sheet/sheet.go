// Package sheet writes reports and stored records as a spreadsheet (XLSX) with real numbers and charts. It knows the format;
// packages reports and results say what the numbers mean.
//
//	err := sheet.Write(file, []document.Document{summary, headToHead}, records)
//
// makes the sheets "Summary", "Head to head", and "Repetitions" with a row for each record and load.
package sheet

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// Write writes a workbook: a sheet for each document, with its charts, and the sheet Repetitions with the flat form of records
// (results.FlatTable). Documents without records have no sheet Repetitions. It blocks until w has taken everything.
func Write(w io.Writer, documents []document.Document, records []store.Record) error {
	b := newBook("Brokermark")
	defer b.file.Close()
	for _, d := range documents {
		b.writeDocument(d)
	}
	if len(records) > 0 || len(documents) == 0 {
		names, rows := results.FlatTable(records)
		b.writeTable(b.addSheet("Repetitions"), names, rows)
	}
	return b.writeTo(w)
}

// book is a workbook under construction. After the first error its methods do nothing; writeTo, at the end, returns it.
type book struct {
	file   *excelize.File
	styles map[look]int // IDs
	names  []string     // of the sheets so far, in lower case: programs take "Points" and "points" for the same
	err    error
}

func newBook(title string) *book {
	b := &book{file: excelize.NewFile(), styles: map[look]int{}}
	b.try(func() error {
		return b.file.SetDocProps(&excelize.DocProperties{Title: title, Creator: "brokermark"})
	})
	return b
}

func (b *book) writeTo(w io.Writer) error {
	if b.err != nil {
		return fmt.Errorf("make the spreadsheet: %w", b.err)
	}
	if types := b.file.ContentTypes; types != nil { // a chart adds some in any order
		sort.Slice(types.Defaults, func(i, j int) bool { return types.Defaults[i].Extension < types.Defaults[j].Extension })
	}
	packed, err := b.file.WriteToBuffer()
	if err != nil {
		return err
	}
	return writeSorted(w, packed.Bytes())
}

// writeSorted writes the zip of a workbook with its parts in the order of their names, so that equal workbooks have equal bytes: the
// library writes sheets in any order.
func writeSorted(w io.Writer, workbook []byte) error {
	parts, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	if err != nil {
		return err
	}
	slices.SortFunc(parts.File, func(a, b *zip.File) int { return cmp.Compare(a.Name, b.Name) })
	out := zip.NewWriter(w)
	for _, part := range parts.File {
		if err := out.Copy(part); err != nil {
			return err
		}
	}
	return out.Close()
}

// try does something unless there was an error.
func (b *book) try(do func() error) {
	if b.err == nil {
		b.err = do()
	}
}

// addSheet adds an empty sheet. It returns its name: "Summary", or "Summary 2" if another sheet has that name.
func (b *book) addSheet(name string) string {
	const maxName = 31 // letters, by the format
	name = allowedName(name)
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

// allowedName returns a sheet's name with only the characters that the format allows; it may be too long.
func allowedName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`[]:*?/\`, r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	return cmp.Or(strings.Trim(name, "' "), "records")
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

// The look of cells: a format of their numbers, and a font, fill and alignment by their role.

type look struct {
	format  string // of numbers; empty for words
	role    role
	atLeast bool // the number is a lower bound, and has ≥ before it
}

// role is the purpose of a cell.
type role int

const (
	body     role = iota
	unused        // of a figure that no conclusion is drawn from
	header        // names a column
	title         // names a table
	unitName      // names the unit of its row
)

// style returns the ID of a look in the workbook, which holds each look once.
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
	if l.format != "" {
		format := l.format
		if l.atLeast {
			format = `"≥ "` + format
		}
		s.CustomNumFmt = &format
	}
	var id int
	b.try(func() (err error) { id, err = b.file.NewStyle(&s); return err })
	b.styles[l] = id
	return id
}
