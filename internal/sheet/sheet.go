// Package sheet writes stored records as a spreadsheet (XLSX) with real numbers and charts. It knows the format;
// package results says what the numbers mean.
//
//	err := sheet.Write(file, results.Of(records), nil) // without verdicts of gates
//
// A study "window" that measured rates and peaks makes the sheets "window rate" and "window peak" with a row for each
// point and load, and behind them Repetitions, Settings, Points, Doubts and About.
package sheet

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
)

// Write makes a workbook of results: a sheet for each experiment (the points that one study measured in one way) with a
// row for each point and load, then the verdicts of gates and objectives, every repetition, the settings, the doubts,
// and the meaning of the columns. No records make a workbook that says so.
func Write(w io.Writer, set *results.Set, judged []gate.Verdict) error {
	b := newBook("Brokermark results")
	defer b.file.Close()
	experimentOf := func(p results.Point) string { return strings.TrimSpace(p.Records[0].Study + " " + p.Spec.Measure) }
	for _, e := range results.GroupBy(set.Points, experimentOf) {
		b.writeExperiment(e.Name, e.Members)
	}
	b.writeGates(judged)
	if len(set.Records) > 0 {
		b.writeRepetitions(set.Records)
		b.writeSettings(set.Points)
		b.writeDoubts(set.Points)
	}
	b.writeAbout(set.Records)
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
	return b.file.Write(w)
}

// try does something unless there was an error.
func (b *book) try(do func() error) {
	if b.err == nil {
		b.err = do()
	}
}

// addSheet adds an empty sheet. It returns its name: "window rate", or "window rate 2" if another sheet has that name.
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

// allowedName is a sheet's name as the format allows it, but for its length.
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
