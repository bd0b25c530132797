// Blocks as pieces of HTML pages. Scripts and style sheets find what they need in attributes; people see words and rounded figures:
//
//	<tr data-status="ok"><th scope="row" data-key="broker">kafka</th>
//	<td class="n" data-key="e2e_p99_ns" data-value="4900000">4.90 ms<sup><a href="#s-note-1">1</a></sup></td></tr>

package render

import (
	"fmt"
	"html"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
)

// longTable is the number of rows above which a table is folded away, so that a page opens at once.
const longTable = 200

// Fragment writes blocks as a piece of an HTML page. Every number also stands in its base unit as data-value, and footnotes are linked
// by anchor and by title. Headings begin at level, with 2 as <h2>. id begins the anchors of the footnotes; fragments of one page need
// different ones.
func Fragment(blocks []document.Block, id string, level int) string {
	f := fragment{id: id, level: level, notes: document.Document{Blocks: blocks}.Notes()}
	for _, b := range blocks {
		if note, ok := b.(document.Note); ok {
			f.note(note)
			continue
		}
		f.closeNotes()
		f.block(b)
	}
	f.closeNotes()
	return f.out.String()
}

// fragment gathers the HTML of blocks.
type fragment struct {
	out     strings.Builder
	id      string
	level   int            // of the largest heading
	notes   map[int]string // text by mark
	heading string         // the last one, which names tables without a title
	inNotes bool           // a list of footnotes is open
}

func (f *fragment) writef(format string, values ...any) { fmt.Fprintf(&f.out, format, values...) }

func (f *fragment) note(note document.Note) {
	if !f.inNotes {
		f.out.WriteString("<ul class=\"notes\">\n")
		f.inNotes = true
	}
	f.writef("<li id=\"%s-note-%d\"><sup>%d</sup> %s</li>\n", f.id, note.Mark, note.Mark, escape(note.Text))
}

func (f *fragment) closeNotes() {
	if f.inNotes {
		f.out.WriteString("</ul>\n")
		f.inNotes = false
	}
}

func (f *fragment) block(b document.Block) {
	switch b := b.(type) {
	case document.Heading:
		f.heading = b.Text
		level := min(6, f.level+b.Level-1)
		f.writef("<h%d>%s</h%d>\n", level, escape(b.Text), level)
	case document.Paragraph:
		f.writef("<p>%s</p>\n", escape(b.Text))
	case document.Verdict:
		f.writef("<p>%s</p>\n", escape(b.Text()))
	case document.Warning:
		f.writef("<p class=\"warning\">%s</p>\n", escape(b.Text()))
	case document.Listing:
		f.writef("<pre tabindex=\"0\">%s</pre>\n", html.EscapeString(cleanLines(b.Text)))
	case document.Table:
		f.table(b)
	default:
		unknownBlock("html", b)
	}
}

// htmlColumn is a column that readers see.
type htmlColumn struct {
	document.Column
	numeric bool // aligned to the right, with its blanks
}

func (f *fragment) table(t document.Table) {
	name := t.Title
	if name == "" {
		name = f.heading
	}
	long := len(t.Rows) > longTable
	if long {
		f.writef("<details class=\"long\"><summary>%d rows</summary>\n", len(t.Rows))
	}
	// The region can be scrolled with the keyboard; a table wider than a phone needs that.
	f.writef("<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n", escape("Table: "+name))
	if t.Title != "" {
		f.writef("<caption>%s</caption>\n", escape(t.Title))
	}
	f.out.WriteString("<thead><tr>")
	var shown []htmlColumn
	for _, c := range forReaders(t).Columns {
		column := htmlColumn{Column: c, numeric: numeric(t, c)} // numeric looks at every row, so it is called once
		shown = append(shown, column)
		class := ""
		if column.numeric {
			class = " class=\"n\""
		}
		f.writef("<th scope=\"col\"%s>%s</th>", class, strings.ReplaceAll(html.EscapeString(cleanLines(c.Name)), "\n", "<br>"))
	}
	f.out.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		f.row(t, row, shown)
	}
	f.out.WriteString("</tbody></table></div>\n")
	if long {
		f.out.WriteString("</details>\n")
	}
}

// row writes the shown cells. The cells of data columns, and those by which style sheets choose rows, are attributes of the row.
func (f *fragment) row(t document.Table, row document.Row, shown []htmlColumn) {
	f.out.WriteString("<tr")
	for _, c := range t.Columns {
		if c.Data || c.Attribute {
			f.writef(" data-%s=\"%s\"", attributeName(c.Key), escape(machineText(row[c.Key])))
		}
	}
	f.out.WriteString(">")
	for _, c := range shown {
		f.cell(c, row[c.Key])
	}
	f.out.WriteString("</tr>\n")
}

func (f *fragment) cell(c htmlColumn, cell document.Cell) {
	tag, scope := "td", ""
	if c.Row {
		tag, scope = "th", " scope=\"row\""
	}
	f.out.WriteString("<" + tag + scope)
	if classes := c.cellClasses(cell); classes != nil {
		f.writef(" class=\"%s\"", strings.Join(classes, " "))
	}
	f.writef(" data-key=\"%s\"", escape(c.Key))
	if isNumber(cell) {
		f.writef(" data-value=\"%s\"", plain(cell.Number))
	}
	intervalShown := c.Spread || cell.Bounded
	if cell.Kind == document.Interval && !intervalShown && cell.Low != cell.High {
		f.writef(" title=\"%s\"", escape("within "+unitOf(c.Column, cell).Range(cell.Low, cell.High)))
	}
	marks := cell.Marks
	cell.Marks = nil // links below take their place
	text := html.EscapeString(cellText(c.Column, cell))
	if cell.Kind == document.Interval {
		text = setApartInterval(text)
	}
	f.out.WriteString(">" + text)
	for _, mark := range marks {
		f.writef("<sup><a href=\"#%s-note-%d\" title=\"%s\" aria-label=\"note %d\">%d</a></sup>", f.id, mark, escape(f.notes[mark]), mark, mark)
	}
	f.writef("</%s>", tag)
}

// cellClasses are the classes of page.css that a cell has.
func (c htmlColumn) cellClasses(cell document.Cell) []string {
	var classes []string
	if isNumber(cell) || cell.Kind == document.Blank && c.numeric {
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

// setApartInterval marks up the interval behind a number.
func setApartInterval(text string) string {
	if number, interval, ok := strings.Cut(text, " ["); ok {
		return number + " <span class=\"spread\">[" + interval + "</span>"
	}
	return text
}

// attributeName is a column's key as part of the name of an attribute. The keys of axes hold users' words.
func attributeName(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r <= ' ' || strings.ContainsRune("\"'<>/=", r) {
			return '-'
		}
		return r
	}, key)
}

// machineText is a cell for programs: its words, or its number in the base unit with all digits.
func machineText(cell document.Cell) string {
	if isNumber(cell) {
		return plain(cell.Number)
	}
	return cell.Text
}

func escape(text string) string { return html.EscapeString(clean(text)) }
