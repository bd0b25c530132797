package render

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
)

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
			var line []string
			for _, f := range fieldsOf(t, row, notes) {
				line = append(line, csvField(f.value))
			}
			lines = append(lines, line)
		}
		parts = append(parts, csvLines(lines))
	}
	return strings.Join(parts, "\n")
}

// sentences is a column of the paragraphs of a document.
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

// csvField writes the value of a field.
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

// Inert is text that no spreadsheet takes for a formula: a quote stands before the characters that begin one, "'=1+1".
func Inert(text string) string {
	text = clean(text)
	if text != "" && strings.ContainsRune("=+-@|%", rune(text[0])) {
		return "'" + text
	}
	return text
}
