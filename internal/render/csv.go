// Documents as CSV.

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

// renderCSV writes the tables with plain numbers in base units, which the columns' keys name. Each table has its own header, and an
// empty line separates tables. A document without a table becomes its sentences.
func renderCSV(w io.Writer, d document.Document, _ Options) error {
	out := csv.NewWriter(w)
	tables, notes := d.Tables(), d.Notes()
	for i, t := range tables {
		t = withBounds(t)
		if i > 0 {
			out.Flush()
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		_ = out.Write(csvHeader(t)) // an error stays until Error
		for _, row := range t.Rows {
			_ = out.Write(csvRow(t, row, notes))
		}
	}
	if len(tables) == 0 {
		_ = out.Write([]string{"text"})
		for _, b := range d.Blocks {
			if p, ok := document.Worded(b).(document.Paragraph); ok {
				_ = out.Write([]string{Inert(p.Text)})
			}
		}
	}
	out.Flush()
	return out.Error()
}

// withBounds marks the columns that show clocks' bounds as having intervals, so that programs read the bounds, too.
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

// Inert is text that no spreadsheet takes for a formula: a quote stands before the characters that begin one.
func Inert(text string) string {
	text = clean(text)
	if text != "" && strings.ContainsRune("=+-@|%", rune(text[0])) {
		return "'" + text
	}
	return text
}
