package render

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
)

// markdownText writes a document as headings, paragraphs and tables.
func markdownText(d document.Document) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n", literal(d.Title))
	for _, b := range d.Blocks {
		switch b := document.Worded(b).(type) {
		case document.Heading:
			level := min(6, b.Level+1) // the title has the first
			fmt.Fprintf(&out, "\n%s %s\n", strings.Repeat("#", level), literal(b.Text))
		case document.Paragraph:
			fmt.Fprintf(&out, "\n%s\n", literal(b.Text))
		case document.Note:
			fmt.Fprintf(&out, "\n%s %s\n", superscript(b.Mark), literal(b.Text))
		case document.Listing:
			lines := strings.TrimRight(CleanLines(b.Text), "\n")
			fence := fenceOf(lines)
			fmt.Fprintf(&out, "\n%s\n%s\n%s\n", fence, lines, fence)
		case document.Table:
			writeMarkdownTable(&out, forReaders(b))
		default:
			panic(unknownBlock("markdown", b))
		}
	}
	return out.String()
}

// writeMarkdownTable writes a table below its title. A table without columns is its title only.
func writeMarkdownTable(out *strings.Builder, t document.Table) {
	if t.Title != "" {
		fmt.Fprintf(out, "\n**%s**\n", literal(t.Title))
	}
	if len(t.Columns) == 0 {
		return
	}
	var names, alignments []string
	for _, c := range t.Columns {
		names = append(names, literal(document.OneLine(c.Name)))
		if numeric(t, c) {
			alignments = append(alignments, "--:")
		} else {
			alignments = append(alignments, ":--")
		}
	}
	fmt.Fprintf(out, "\n| %s |\n|%s|\n", strings.Join(names, " | "), strings.Join(alignments, "|"))
	for _, row := range t.Rows {
		cells := lists.Map(t.Columns, func(c document.Column) string { return literal(cellText(c, row[c.Key])) })
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
}

// fenceOf returns a line before and after a listing. It has more backticks than any line of the text, which would end
// the listing otherwise.
func fenceOf(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// literal returns Markdown that appears as the text is, also at the start of a line.
func literal(text string) string {
	text = markdownEscapes.Replace(clean(text))
	return listMarker.ReplaceAllString(text, `${2}\${1}${3}`)
}

// markdownEscapes are for characters that mean something anywhere in a line.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `~`, `\~`,
	`[`, `\[`, `]`, `\]`, `|`, `\|`, `#`, `\#`,
	`&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`,
)

// listMarker finds what begins a list or a rule at the start of a line: "-", "+", and the end of a number, as in "1. " and "2) ".
var listMarker = regexp.MustCompile(`^([-+])|^([0-9]+)([.)](?:\s|$))`)
