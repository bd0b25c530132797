package document

import (
	"slices"

	"github.com/brokermark/brokermark/internal/remark"
)

// Footnotes collects notes while a report is built. The zero value is ready to use.
type Footnotes struct{ notes []footnote }

// footnote holds the remarks about one thing that have the same form: the same words but other figures.
type footnote struct {
	about, form string
	remarks     []remark.Remark // each once
}

// Mark returns the number of the footnote for a remark about the named thing. Remarks of the same form share a footnote: "3 ms late" and
// "9 ms late" become "3–9 ms late (2 alike)".
func (f *Footnotes) Mark(about string, r remark.Remark) int {
	form := r.Form()
	i := slices.IndexFunc(f.notes, func(n footnote) bool { return n.about == about && n.form == form })
	if i < 0 {
		i = len(f.notes)
		f.notes = append(f.notes, footnote{about: about, form: form})
	}
	note := &f.notes[i]
	if !slices.ContainsFunc(note.remarks, func(o remark.Remark) bool { return o.Text == r.Text }) {
		note.remarks = append(note.remarks, r)
	}
	return i + 1
}

// Blocks writes the footnotes, to be added at the end of the document.
func (f *Footnotes) Blocks() []Block {
	var blocks []Block
	for i, n := range f.notes {
		blocks = append(blocks, Note{Mark: i + 1, Text: remark.Merge(n.remarks)})
	}
	return blocks
}

// RowNotes returns the footnotes that a row of t points to, each once, in the order of its columns.
func (t Table) RowNotes(row Row, notes map[int]string) []string {
	var texts []string
	seen := map[int]bool{}
	for _, c := range t.Columns {
		for _, mark := range row[c.Key].Marks {
			if !seen[mark] {
				seen[mark] = true
				texts = append(texts, notes[mark])
			}
		}
	}
	return texts
}
