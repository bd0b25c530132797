// Documents as GitHub-flavoured Markdown.

package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
)

// renderMarkdown writes a document as headings, paragraphs and tables.
func renderMarkdown(w io.Writer, d document.Document, _ Options) error {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n", literal(d.Title))
	for _, b := range d.Blocks {
		switch b := document.Worded(b).(type) {
		case document.Heading:
			fmt.Fprintf(&out, "\n%s %s\n", strings.Repeat("#", min(6, b.Level+1)), literal(b.Text))
		case document.Paragraph:
			fmt.Fprintf(&out, "\n%s\n", literal(b.Text))
		case document.Note:
			fmt.Fprintf(&out, "\n%s %s\n", superscript(b.Mark), literal(b.Text))
		case document.Listing:
			out.WriteByte('\n')
			for line := range strings.Lines(cleanLines(b.Text)) {
				out.WriteString("    " + line) // indented, because text can't break out of an indent
			}
			out.WriteByte('\n')
		case document.Table:
			markdownTable(&out, forReaders(b))
		default:
			unknownBlock("markdown", b)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func markdownTable(out *strings.Builder, t document.Table) {
	if t.Title != "" {
		fmt.Fprintf(out, "\n**%s**\n", literal(t.Title))
	}
	if len(t.Columns) == 0 {
		return
	}
	out.WriteString("\n|")
	for _, c := range t.Columns {
		out.WriteString(" " + literal(document.OneLine(c.Name)) + " |")
	}
	out.WriteString("\n|")
	for _, c := range t.Columns {
		if numeric(t, c) {
			out.WriteString("--:|")
		} else {
			out.WriteString(":--|")
		}
	}
	out.WriteByte('\n')
	for _, row := range t.Rows {
		out.WriteString("|")
		for _, c := range t.Columns {
			out.WriteString(" " + literal(cellText(c, row[c.Key])) + " |")
		}
		out.WriteByte('\n')
	}
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `|`, `\|`, `[`, `\[`, `]`, `\]`, `#`, `\#`, `~`, `\~`, `&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`,
)

// literal makes text appear as it is.
func literal(text string) string { return markdownEscapes.Replace(clean(text)) }
