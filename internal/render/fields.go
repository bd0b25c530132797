// Rows as programs read them, with all digits of numbers in base units. CSV and JSON lines have the same fields:
//
//	broker,e2e_p99_ns,e2e_p99_ns_low,e2e_p99_ns_high,notes
//	kafka,4900000,4810000,5020000,throttled: the machine ran at 2.1 of 3.4 GHz
//
//	{"broker":"kafka","e2e_p99_ns":4900000,"e2e_p99_ns_low":4810000,"e2e_p99_ns_high":5020000,"notes":[]}

package render

import (
	"math"

	"github.com/brokermark/brokermark/internal/document"
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
	texts := []string{} // never nil, which JSON would write as null
	for _, text := range t.RowNotes(row, notes) {
		texts = append(texts, clean(text))
	}
	return append(fields, field{key: "notes", value: texts})
}

// knownNumber is v, or nil for NaN and infinity.
func knownNumber(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}
