package render

import (
	"fmt"
	"html"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
)

// longTable is the number of rows from which a table is folded away, so that a page opens at once.
const longTable = 200

// Fragment writes blocks as a piece of an HTML page: scoped table headers, every number also in its base unit as
// data-value, footnotes linked both by anchor and by title. Headings begin at level (2 = h2). id keeps the footnotes
// of several fragments of one page apart.
func Fragment(blocks []document.Block, id string, level int) string {
	f := fragment{id: id, level: level, notes: document.Document{Blocks: blocks}.Notes()}
	for _, b := range blocks {
		f.block(b)
	}
	f.closeNotes()
	return f.out.String()
}

type fragment struct {
	out     strings.Builder
	id      string
	level   int
	notes   map[int]string
	heading string
	inNotes bool
}

func (f *fragment) block(b document.Block) {
	if note, ok := b.(document.Note); ok {
		if !f.inNotes {
			f.out.WriteString("<ul class=\"notes\">\n")
			f.inNotes = true
		}
		fmt.Fprintf(&f.out, "<li id=\"%s-note-%d\"><sup>%d</sup> %s</li>\n", f.id, note.Mark, note.Mark, escape(note.Text))
		return
	}
	f.closeNotes()
	class := ""
	if _, ok := b.(document.Warning); ok {
		class = " class=\"warning\""
	}
	switch b := document.Worded(b).(type) {
	case document.Heading:
		f.heading = b.Text
		level := min(6, f.level+b.Level-1)
		fmt.Fprintf(&f.out, "<h%d>%s</h%d>\n", level, escape(b.Text), level)
	case document.Paragraph:
		fmt.Fprintf(&f.out, "<p%s>%s</p>\n", class, escape(b.Text))
	case document.Listing:
		fmt.Fprintf(&f.out, "<pre tabindex=\"0\">%s</pre>\n", html.EscapeString(cleanLines(b.Text)))
	case document.Table:
		f.table(b)
	}
}

func (f *fragment) closeNotes() {
	if f.inNotes {
		f.out.WriteString("</ul>\n")
		f.inNotes = false
	}
}

func (f *fragment) table(t document.Table) {
	name := t.Title
	if name == "" {
		name = f.heading
	}
	long := len(t.Rows) > longTable
	if long {
		fmt.Fprintf(&f.out, "<details class=\"long\"><summary>%d rows</summary>\n", len(t.Rows))
	}
	// The region can be scrolled with the keyboard; a table wider than a phone needs that.
	fmt.Fprintf(&f.out, "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n", escape("Table: "+name))
	if t.Title != "" {
		fmt.Fprintf(&f.out, "<caption>%s</caption>\n", escape(t.Title))
	}
	shown := forReaders(t).Columns
	f.out.WriteString("<thead><tr>")
	numbers := map[string]bool{} // columns of numbers, found once since numeric looks at every row
	for _, c := range shown {
		class := ""
		if numbers[c.Key] = numeric(t, c); numbers[c.Key] {
			class = " class=\"n\""
		}
		fmt.Fprintf(&f.out, "<th scope=\"col\"%s>%s</th>", class, strings.ReplaceAll(html.EscapeString(cleanLines(c.Name)), "\n", "<br>"))
	}
	f.out.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		f.row(t, row, shown, numbers)
	}
	f.out.WriteString("</tbody></table></div>\n")
	if long {
		f.out.WriteString("</details>\n")
	}
}

func (f *fragment) row(t document.Table, row document.Row, shown []document.Column, numbers map[string]bool) {
	f.out.WriteString("<tr")
	for _, c := range t.Columns {
		if c.Data || c.Key == "status" || c.Key == "verdict" {
			fmt.Fprintf(&f.out, " data-%s=\"%s\"", attribute(c.Key), escape(bare(row[c.Key])))
		}
	}
	f.out.WriteString(">")
	for _, c := range shown {
		f.cell(c, row[c.Key], numbers[c.Key])
	}
	f.out.WriteString("</tr>\n")
}

// cell writes a cell; numbers tells that its column is one of numbers, which are aligned to the right with their blanks.
func (f *fragment) cell(c document.Column, cell document.Cell, numbers bool) {
	tag, scope := "td", ""
	if c.Row {
		tag, scope = "th", " scope=\"row\""
	}
	f.out.WriteString("<" + tag + scope)
	if classes := cellClasses(c, cell, numbers); classes != nil {
		fmt.Fprintf(&f.out, " class=\"%s\"", strings.Join(classes, " "))
	}
	fmt.Fprintf(&f.out, " data-key=\"%s\"", escape(c.Key))
	if cell.Kind == document.Figure || cell.Kind == document.Interval {
		fmt.Fprintf(&f.out, " data-value=\"%s\"", plain(cell.Number))
	}
	u := c.Unit
	if cell.Unit != unit.None {
		u = cell.Unit
	}
	if cell.Kind == document.Interval && !c.Spread && !cell.Bounded && cell.Low != cell.High {
		fmt.Fprintf(&f.out, " title=\"%s\"", escape("within "+u.Range(cell.Low, cell.High)))
	}
	marks := cell.Marks
	cell.Marks = nil
	text := html.EscapeString(cellText(c, cell))
	if cell.Kind == document.Interval {
		text = spread(text)
	}
	f.out.WriteString(">" + text)
	for _, mark := range marks {
		fmt.Fprintf(&f.out, "<sup><a href=\"#%s-note-%d\" title=\"%s\" aria-label=\"note %d\">%d</a></sup>", f.id, mark, escape(f.notes[mark]), mark, mark)
	}
	fmt.Fprintf(&f.out, "</%s>", tag)
}

func cellClasses(c document.Column, cell document.Cell, numbers bool) (classes []string) {
	blank, number := cell.Kind == document.Blank, cell.Kind == document.Figure || cell.Kind == document.Interval
	if number || blank && numbers {
		classes = append(classes, "n")
	}
	if cell.Unused {
		classes = append(classes, "unused")
	}
	if c.Wide {
		classes = append(classes, "wide")
	}
	return classes
}

// spread sets an interval apart from the number before it.
func spread(text string) string {
	if number, interval, ok := strings.Cut(text, " ["); ok {
		return number + " <span class=\"spread\">[" + interval + "</span>"
	}
	return text
}

// attribute is a column's key as part of the name of an attribute. Keys of axes hold words of the user's.
func attribute(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r <= ' ' || strings.ContainsRune("\"'<>/=", r) {
			return '-'
		}
		return r
	}, key)
}

// bare is a cell for machines: its words, or its number in the base unit with every digit.
func bare(cell document.Cell) string {
	switch cell.Kind {
	case document.Words:
		return cell.Text
	case document.Blank:
		return ""
	}
	return plain(cell.Number)
}

func escape(text string) string { return html.EscapeString(clean(text)) }
