package document

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// textsPerNote bounds how many different sentences one footnote quotes: with figures in them they are all different.
const textsPerNote = 3

var figures = regexp.MustCompile(`\d+(\.\d+)?`)

// Alike is the same for sentences that differ only in their figures.
func Alike(text string) string { return figures.ReplaceAllString(text, "#") }

// Footnotes collects notes while a report is built. The zero value is ready to use.
type Footnotes struct {
	keys  []string
	texts map[string][]string
}

// Mark returns the number of the footnote for text about the named thing. Sentences that differ only in their figures
// share a footnote, which quotes the first few and counts the rest.
func (f *Footnotes) Mark(about, text string) int {
	key := about + "\x00" + Alike(text)
	if f.texts == nil {
		f.texts = map[string][]string{}
	}
	if _, known := f.texts[key]; !known {
		f.keys = append(f.keys, key)
	}
	if !slices.Contains(f.texts[key], text) {
		f.texts[key] = append(f.texts[key], text)
	}
	return slices.Index(f.keys, key) + 1
}

// Blocks writes the footnotes, to be added at the end of the document.
func (f *Footnotes) Blocks() []Block {
	var blocks []Block
	for i, key := range f.keys {
		texts := f.texts[key]
		text := strings.Join(texts[:min(len(texts), textsPerNote)], "; ")
		if more := len(texts) - textsPerNote; more > 0 {
			text += fmt.Sprintf("; and %d more like these", more)
		}
		blocks = append(blocks, Note{Mark: i + 1, Text: text})
	}
	return blocks
}

// RowNotes are the footnotes a row of t points to, each once, in the order of its columns.
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
