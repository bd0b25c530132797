// Documents as CSV, with plain numbers in base units:
//
//	broker,e2e_p99_ns,e2e_p99_ns_low,e2e_p99_ns_high,notes
//	kafka,4900000,4810000,5020000,throttled: the machine ran at 2.1 of 3.4 GHz

package render

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
)

// renderCSV writes the tables of a document. Each has its own header, and an empty line separates them. A document without a table becomes
// its sentences.
func renderCSV(w io.Writer, d document.Document, _ Options) error {
	tables, notes := d.Tables(), d.Notes()
	for i, t := range tables {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		t = withBounds(t)
		lines := [][]string{csvHeader(t)}
		for _, row := range t.Rows {
			lines = append(lines, csvRow(t, row, notes))
		}
		if err := csv.NewWriter(w).WriteAll(lines); err != nil {
			return err
		}
	}
	if len(tables) > 0 {
		return nil
	}
	lines := [][]string{{"text"}}
	for _, b := range d.Blocks {
		if p, ok := document.Worded(b).(document.Paragraph); ok {
			lines = append(lines, []string{Inert(p.Text)})
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// withBounds gives the columns that show the error of two clocks an interval, so that programs read the error as well.
func withBounds(t document.Table) document.Table {
	t.Columns = slices.Clone(t.Columns)
	for i, c := range t.Columns {
		bounded := func(row document.Row) bool { return row[c.Key].Bounded }
		t.Columns[i].Spread = c.Spread || slices.ContainsFunc(t.Rows, bounded)
	}
	return t
}

func csvHeader(t document.Table) []string {
	var header []string
	if t.Title != "" {
		header = append(header, "table")
	}
	for _, c := range t.Columns {
		key := clean(c.Key) // axes have the names that users gave them
		header = append(header, key)
		if c.Spread {
			header = append(header, key+"_low", key+"_high")
		}
	}
	return append(header, "notes")
}

func csvRow(t document.Table, row document.Row, notes map[int]string) []string {
	var fields []string
	if t.Title != "" {
		fields = append(fields, Inert(t.Title))
	}
	for _, c := range t.Columns {
		cell := row[c.Key]
		var value, low, high string // empty where nothing is known
		switch cell.Kind {
		case document.Words:
			value = Inert(cell.Text)
		case document.Figure:
			value = plain(cell.Number)
		case document.Interval:
			value, low, high = plain(cell.Number), plain(cell.Low), plain(cell.High)
		}
		fields = append(fields, value)
		if c.Spread {
			fields = append(fields, low, high)
		}
	}
	return append(fields, Inert(strings.Join(t.RowNotes(row, notes), " | ")))
}

// plain writes a number with all its digits. It is empty for NaN and infinity.
func plain(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Inert is text that no spreadsheet takes for a formula: a quote stands before the characters that begin one, "'=1+1".
func Inert(text string) string {
	text = clean(text)
	if text != "" && strings.ContainsRune("=+-@|%", rune(text[0])) {
		return "'" + text
	}
	return text
}
