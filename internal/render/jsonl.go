package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
)

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
	var members []string
	for _, f := range fields {
		members = append(members, jsonText(f.key)+":"+jsonText(f.value))
	}
	fmt.Fprintf(out, "{%s}\n", strings.Join(members, ","))
}

// jsonText is a key or a value as JSON. Unlike json.Marshal it leaves <, > and & as they are.
func jsonText(v any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("render: " + err.Error()) // a field holds no other type
	}
	return strings.TrimSuffix(out.String(), "\n")
}
