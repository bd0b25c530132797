package render

import (
	"bytes"
	"encoding/json"
	"io"
	"math"

	"github.com/brokermark/brokermark/internal/document"
)

// renderJSONL writes one object per row of every table (its numbers in base units, null if unknown) and one
// {"text": …} per paragraph, in the document's order.
func renderJSONL(w io.Writer, d document.Document, _ Options) error {
	notes := d.Notes()
	for _, b := range d.Blocks {
		switch b := document.Worded(b).(type) {
		case document.Paragraph:
			if err := writeObject(w, []field{{"text", clean(b.Text)}}); err != nil {
				return err
			}
		case document.Listing:
			if err := writeObject(w, []field{{"listing", cleanLines(b.Text)}}); err != nil {
				return err
			}
		case document.Table:
			t := withBounds(b)
			for _, row := range t.Rows {
				if err := writeObject(w, jsonRow(t, row, notes)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type field struct {
	key   string
	value any
}

func jsonRow(t document.Table, row document.Row, notes map[int]string) []field {
	var fields []field
	if t.Title != "" {
		fields = append(fields, field{"table", clean(t.Title)})
	}
	for _, c := range t.Columns {
		cell, key := row[c.Key], clean(c.Key)
		switch cell.Kind {
		case document.Figure, document.Interval:
			fields = append(fields, field{key, number(cell.Number)})
		case document.Words:
			fields = append(fields, field{key, clean(cell.Text)})
		default:
			fields = append(fields, field{key, nil})
		}
		if c.Spread && cell.Kind == document.Interval {
			fields = append(fields, field{key + "_low", number(cell.Low)}, field{key + "_high", number(cell.High)})
		} else if c.Spread {
			fields = append(fields, field{key + "_low", nil}, field{key + "_high", nil})
		}
	}
	texts := []string{}
	for _, text := range t.RowNotes(row, notes) {
		texts = append(texts, clean(text))
	}
	return append(fields, field{"notes", texts})
}

func number(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// writeObject keeps the order of the fields, which a map would lose.
func writeObject(w io.Writer, fields []field) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	for i, f := range fields {
		if i == 0 {
			line.WriteByte('{')
		} else {
			line.WriteByte(',')
		}
		if err := encoder.Encode(f.key); err != nil {
			return err
		}
		line.Truncate(line.Len() - 1) // Encode's line break
		line.WriteByte(':')
		if err := encoder.Encode(f.value); err != nil {
			return err
		}
		line.Truncate(line.Len() - 1)
	}
	line.WriteString("}\n")
	_, err := w.Write(line.Bytes())
	return err
}
