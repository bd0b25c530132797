// Documents as JSON lines, an object for each row of every table, with numbers in base units:
//
//	{"broker":"kafka","e2e_p99_ns":4900000,"e2e_p99_ns_low":4810000,"e2e_p99_ns_high":5020000,"notes":[]}

package render

import (
	"bytes"
	"encoding/json"
	"io"
	"math"

	"github.com/brokermark/brokermark/internal/document"
)

// renderJSONL writes the blocks of a document in their order. What is unknown is null. Paragraphs are {"text": …} and listings
// {"listing": …}.
func renderJSONL(w io.Writer, d document.Document, _ Options) error {
	notes := d.Notes()
	for _, b := range d.Blocks {
		switch b := document.Worded(b).(type) {
		case document.Paragraph:
			if err := writeObject(w, []field{{key: "text", value: clean(b.Text)}}); err != nil {
				return err
			}
		case document.Listing:
			if err := writeObject(w, []field{{key: "listing", value: cleanLines(b.Text)}}); err != nil {
				return err
			}
		case document.Table:
			t := withBounds(b)
			for _, row := range t.Rows {
				if err := writeObject(w, jsonRow(t, row, notes)); err != nil {
					return err
				}
			}
		case document.Heading, document.Note: // rows hold the title of their table, and their notes
		default:
			unknownBlock("jsonl", b)
		}
	}
	return nil
}

// field is a field of an object. Its value is a string, a number, a list of strings or nil.
type field struct {
	key   string
	value any
}

func jsonRow(t document.Table, row document.Row, notes map[int]string) []field {
	var fields []field
	if t.Title != "" {
		fields = append(fields, field{key: "table", value: clean(t.Title)})
	}
	for _, c := range t.Columns {
		cell, key := row[c.Key], clean(c.Key)
		var value, low, high any // nil where nothing is known
		switch cell.Kind {
		case document.Words:
			value = clean(cell.Text)
		case document.Figure:
			value = number(cell.Number)
		case document.Interval:
			value, low, high = number(cell.Number), number(cell.Low), number(cell.High)
		}
		fields = append(fields, field{key: key, value: value})
		if c.Spread {
			fields = append(fields, field{key: key + "_low", value: low}, field{key: key + "_high", value: high})
		}
	}
	texts := []string{}
	for _, text := range t.RowNotes(row, notes) {
		texts = append(texts, clean(text))
	}
	return append(fields, field{key: "notes", value: texts})
}

// number is a number, or nil for those that JSON has no word for.
func number(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// writeObject keeps the order of the fields, which a map would lose.
func writeObject(w io.Writer, fields []field) error {
	var line bytes.Buffer
	line.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			line.WriteByte(',')
		}
		if err := appendJSON(&line, f.key); err != nil {
			return err
		}
		line.WriteByte(':')
		if err := appendJSON(&line, f.value); err != nil {
			return err
		}
	}
	line.WriteString("}\n")
	_, err := w.Write(line.Bytes())
	return err
}

// appendJSON appends a value to a line. Unlike json.Marshal it leaves <, > and & as they are.
func appendJSON(line *bytes.Buffer, v any) error {
	encoder := json.NewEncoder(line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	line.Truncate(line.Len() - 1) // the line break that Encode adds
	return nil
}
