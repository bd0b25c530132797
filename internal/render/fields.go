// Rows as programs read them, with all digits of numbers in base units. CSV and JSON lines have the same fields:
//
//	broker,e2e_p99_ns,e2e_p99_ns_low,e2e_p99_ns_high,notes
//	kafka,4900000,4810000,5020000,throttled: the machine ran at 2.1 of 3.4 GHz
//
//	{"broker":"kafka","e2e_p99_ns":4900000,"e2e_p99_ns_low":4810000,"e2e_p99_ns_high":5020000,"notes":[]}

package render

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
)

// field is a named value of a row.
type field struct {
	key   string
	value any // a string, a float64, or nil where nothing is known; []string for footnotes
}

// fieldsOf lists the fields of a row: the title of the table if it has one, a field for each column, or three if the column
// has bounds (see document.Table.WithBounds), and the footnotes. All rows of a table have the same keys.
func fieldsOf(t document.Table, row document.Row, notes map[int]string) []field {
	var fields []field
	if t.Title != "" {
		fields = append(fields, field{key: "table", value: clean(t.Title)})
	}
	for _, c := range t.Columns {
		cell, key := row[c.Key], clean(c.Key) // users give the names of axes
		var value, low, high any
		switch cell.Kind {
		case document.Blank:
		case document.Words:
			value = clean(cell.Text)
		case document.Figure:
			value = knownNumber(cell.Number)
		case document.Interval:
			value, low, high = knownNumber(cell.Number), knownNumber(cell.Low), knownNumber(cell.High)
		}
		fields = append(fields, field{key: key, value: value})
		if c.Spread {
			fields = append(fields, field{key: key + "_low", value: low}, field{key: key + "_high", value: high})
		}
	}
	texts := append([]string{}, lists.Map(t.RowNotes(row, notes), clean)...) // never nil, which JSON would write as null
	return append(fields, field{key: "notes", value: texts})
}

// knownNumber returns v, or nil for NaN and infinity.
func knownNumber(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// csvText writes the tables of a document, each below its own header, with an empty line between
// them. A document without a table becomes its sentences.
func csvText(d document.Document) string {
	tables, notes := d.Tables(), d.Notes()
	if len(tables) == 0 {
		return csvLines(sentences(d))
	}
	var parts []string
	for _, t := range tables {
		t = t.WithBounds()
		var header []string
		for _, f := range fieldsOf(t, nil, nil) { // a row without cells has the same keys
			header = append(header, Inert(f.key))
		}
		lines := [][]string{header}
		for _, row := range t.Rows {
			lines = append(lines, lists.Map(fieldsOf(t, row, notes), func(f field) string { return csvField(f.value) }))
		}
		parts = append(parts, csvLines(lines))
	}
	return strings.Join(parts, "\n")
}

// sentences returns a column of the paragraphs of a document.
func sentences(d document.Document) [][]string {
	lines := [][]string{{"text"}}
	for _, b := range d.Blocks {
		if p, ok := document.Worded(b).(document.Paragraph); ok {
			lines = append(lines, []string{Inert(p.Text)})
		}
	}
	return lines
}

func csvLines(lines [][]string) string {
	var out strings.Builder
	_ = csv.NewWriter(&out).WriteAll(lines) // a Builder takes everything
	return out.String()
}

func csvField(value any) string {
	switch v := value.(type) {
	case string:
		return Inert(v)
	case float64:
		return allDigits(v)
	case []string:
		return Inert(strings.Join(v, " | "))
	case nil: // nothing is known
		return ""
	default:
		panic(fmt.Sprintf("render: CSV has no form for a %T", v))
	}
}

// allDigits writes a number without rounding. It is empty for NaN and infinity.
func allDigits(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Inert returns text that no spreadsheet takes for a formula: a quote stands before the characters that begin one, "'=1+1".
func Inert(text string) string {
	text = clean(text)
	if text != "" && strings.ContainsRune("=+-@|%", rune(text[0])) {
		return "'" + text
	}
	return text
}

// jsonLines writes the blocks of a document in their order: an object for each row of a table,
// {"text": …} for a paragraph and {"listing": …} for a listing. What is unknown is null.
func jsonLines(d document.Document) string {
	var out strings.Builder
	notes := d.Notes()
	for _, b := range d.Blocks {
		switch b := document.Worded(b).(type) {
		case document.Paragraph:
			writeObject(&out, []field{{key: "text", value: clean(b.Text)}})
		case document.Listing:
			writeObject(&out, []field{{key: "listing", value: CleanLines(b.Text)}})
		case document.Table:
			t := b.WithBounds()
			for _, row := range t.Rows {
				writeObject(&out, fieldsOf(t, row, notes))
			}
		case document.Heading, document.Note: // rows hold the title of their table, and their notes
		default:
			panic(unknownBlock("jsonl", b))
		}
	}
	return out.String()
}

// writeObject writes a line. It keeps the order of the fields, which a map would lose.
func writeObject(out *strings.Builder, fields []field) {
	members := lists.Map(fields, func(f field) string { return jsonText(f.key) + ":" + jsonText(f.value) })
	fmt.Fprintf(out, "{%s}\n", strings.Join(members, ","))
}

// jsonText returns a key or a value as JSON. Unlike json.Marshal it leaves <, > and & as they are.
func jsonText(v any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("render: " + err.Error()) // a field holds no other type
	}
	return strings.TrimSuffix(out.String(), "\n")
}
