package document

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

var figures = regexp.MustCompile(`\d+(\.\d+)?`)

// Alike is the same for sentences that differ only in their figures.
func Alike(text string) string { return figures.ReplaceAllString(text, "#") }

// Footnotes collects notes while a report is built. The zero value is ready to use.
type Footnotes struct {
	keys  []string
	texts map[string][]string
}

// Mark returns the number of the footnote for text about the named thing. Sentences that differ only in their figures
// share a footnote, which has the span of each figure and counts the sentences.
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
		blocks = append(blocks, Note{Mark: i + 1, Text: together(f.texts[key])})
	}
	return blocks
}

// together is one sentence for several that differ only in their figures: "2.7 ms late" and "4 ms late" are
// "2.7–4 ms late (2 alike)".
func together(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	columns := make([][]string, len(texts))
	for i, text := range texts {
		columns[i] = figures.FindAllString(text, -1)
	}
	at := -1
	text := figures.ReplaceAllStringFunc(texts[0], func(string) string {
		at++
		low, high := columns[0][at], columns[0][at]
		for _, c := range columns {
			if number(c[at]) < number(low) {
				low = c[at]
			}
			if number(c[at]) > number(high) {
				high = c[at]
			}
		}
		if low == high {
			return low
		}
		return low + "–" + high
	})
	return fmt.Sprintf("%s (%d alike)", text, len(texts))
}

// number is what a figure says: digits, and perhaps a fraction.
func number(figure string) float64 {
	v, _ := strconv.ParseFloat(figure, 64)
	return v
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
