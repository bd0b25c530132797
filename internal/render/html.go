// Blocks as pieces of HTML pages. Scripts and style sheets find what they need in attributes; people see words and rounded figures:
//
//	<tr data-status="ok"><th scope="row" data-key="broker">kafka</th>
//	<td class="n" data-key="e2e_p99_ns" data-value="4900000">4.90 ms<sup><a href="#s-note-1">1</a></sup></td></tr>

package render

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
)

// longTable is the number of rows above which a table is folded away, so that a page opens at once.
const longTable = 200

// Fragment writes blocks as a piece of an HTML page. A cell's number also stands in its base unit as data-value, without
// the bounds of its interval. Headings begin at level, with 2 as <h2>.
//
// Marks link to the notes among the blocks; a mark without one is no link. notePrefix begins the anchors of the notes,
// so fragments of one page that have notes need different ones.
func Fragment(blocks []document.Block, notePrefix string, level int) string {
	f := fragment{notePrefix: notePrefix, level: level, notes: document.Document{Blocks: blocks}.Notes()}
	inNotes := false // a list of footnotes is open
	for _, b := range blocks {
		note, isNote := b.(document.Note)
		switch {
		case isNote && !inNotes:
			f.writef("<ul class=\"notes\">\n")
		case inNotes && !isNote:
			f.writef("</ul>\n")
		}
		inNotes = isNote
		if isNote {
			f.writef("<li id=\"%s-note-%d\"><sup>%d</sup> %s</li>\n", notePrefix, note.Mark, note.Mark, escape(note.Text))
		} else {
			f.block(b)
		}
	}
	if inNotes {
		f.writef("</ul>\n")
	}
	return f.out.String()
}

// fragment gathers the HTML of blocks.
type fragment struct {
	out        strings.Builder
	notePrefix string
	level      int            // of the largest heading
	notes      map[int]string // text by mark
	heading    string         // the last one, which names tables without a title
}

func (f *fragment) writef(format string, values ...any) { fmt.Fprintf(&f.out, format, values...) }

// block writes any block but a footnote.
func (f *fragment) block(b document.Block) {
	if d, ok := b.(document.Drawing); ok && d.SVG != nil { // an image: nothing in it runs
		f.writef("<figure><img style=\"max-width:100%%\" alt=\"%s\" src=\"data:image/svg+xml;base64,%s\"></figure>\n",
			escape(d.Title), base64.StdEncoding.EncodeToString(d.SVG))
		return
	}
	class := ""
	if _, ok := b.(document.Warning); ok {
		class = ` class="warning"`
	}
	switch b := document.Worded(b).(type) {
	case document.Heading:
		f.heading = b.Text
		level := min(6, f.level+b.Level-1)
		f.writef("<h%d>%s</h%d>\n", level, escape(b.Text), level)
	case document.Paragraph:
		f.writef("<p%s>%s</p>\n", class, escape(b.Text))
	case document.Listing:
		f.writef(`<pre tabindex="0">%s</pre>`+"\n", html.EscapeString(CleanLines(b.Text)))
	case document.Table:
		f.foldedTable(b)
	default:
		panic(unknownBlock("html", b))
	}
}

// foldedTable writes a table, folded away if it is long.
func (f *fragment) foldedTable(t document.Table) {
	if len(t.Rows) <= longTable {
		f.table(t)
		return
	}
	f.writef(`<details class="long"><summary>%d rows</summary>`+"\n", len(t.Rows))
	f.table(t)
	f.writef("</details>\n")
}

// htmlColumn is a column that readers see.
type htmlColumn struct {
	document.Column
	numeric bool // holds no words; its blanks are aligned to the right, too
}

// table writes a table in a group that the keyboard can scroll, as a table wider than a phone needs.
func (f *fragment) table(t document.Table) {
	name := "Table"
	if title := cmp.Or(t.Title, f.heading); title != "" {
		name += ": " + title
	}
	f.writef(`<div class="scroll" role="group" tabindex="0" aria-label="%s">`+"\n<table>\n", escape(name))
	if t.Title != "" {
		f.writef("<caption>%s</caption>\n", escape(t.Title))
	}
	columns := lists.Map(forReaders(t).Columns, func(c document.Column) htmlColumn {
		return htmlColumn{Column: c, numeric: numeric(t, c)}
	})
	f.header(columns)
	f.writef("<tbody>\n")
	attributes := attributesOf(t.Columns)
	for _, row := range t.Rows {
		f.row(columns, attributes, row)
	}
	f.writef("</tbody></table></div>\n")
}

func (f *fragment) header(columns []htmlColumn) {
	f.writef("<thead><tr>")
	for _, c := range columns {
		class := ""
		if c.numeric {
			class = ` class="n"`
		}
		lines := strings.ReplaceAll(html.EscapeString(CleanLines(c.Name)), "\n", "<br>")
		f.writef(`<th scope="col"%s>%s</th>`, class, lines)
	}
	f.writef("</tr></thead>\n")
}

func (f *fragment) row(columns []htmlColumn, attributes []attribute, row document.Row) {
	f.writef("<tr")
	for _, a := range attributes {
		f.writef(` %s="%s"`, a.name, escape(machineText(row[a.key])))
	}
	f.writef(">")
	for _, c := range columns {
		f.cell(c, row[c.Key])
	}
	f.writef("</tr>\n")
}

// attribute is an attribute of rows that holds the cells of a column.
type attribute struct{ name, key string }

// attributesOf lists the attributes of a table's rows: for data columns, and for those by which
// style sheets choose rows. Columns whose keys would give the same name are numbered.
func attributesOf(columns []document.Column) []attribute {
	var attributes []attribute
	uses := map[string]int{}
	for _, c := range columns {
		if !c.MachinesOnly && !c.Attribute {
			continue
		}
		name := "data-" + attributeName(c.Key)
		if uses[name]++; uses[name] > 1 {
			name += fmt.Sprintf("-%d", uses[name])
		}
		attributes = append(attributes, attribute{name: name, key: c.Key})
	}
	return attributes
}

// attributeName returns a column's key as part of the name of an attribute. Users give the names of axes.
func attributeName(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r <= ' ' || strings.ContainsRune(`"'<>/=`, r) {
			return '-'
		}
		return r
	}, key)
}

// machineText returns a cell for programs: its words, or its number in the base unit with all digits.
func machineText(cell document.Cell) string {
	if cell.IsNumber() {
		return allDigits(cell.Number)
	}
	return cell.Text
}

func (f *fragment) cell(c htmlColumn, cell document.Cell) {
	tag, scope := "td", ""
	if c.Identifies {
		tag, scope = "th", ` scope="row"`
	}
	f.writef("<%s%s%s>", tag, scope, c.cellAttributes(cell))
	f.writef("%s%s</%s>", c.cellContent(cell), f.noteLinks(cell.Marks), tag)
}

// cellAttributes returns the classes of page.css, the key, the number, and as a title the interval if the column doesn't show it.
func (c htmlColumn) cellAttributes(cell document.Cell) string {
	var classes []string
	if cell.IsNumber() || (cell.Kind == document.Blank && c.numeric) {
		classes = append(classes, "n")
	}
	if cell.Unused {
		classes = append(classes, "unused")
	}
	if c.Wide {
		classes = append(classes, "wide")
	}
	attributes := ""
	if classes != nil {
		attributes = fmt.Sprintf(` class="%s"`, strings.Join(classes, " "))
	}
	attributes += fmt.Sprintf(` data-key="%s"`, escape(c.Key))
	if cell.IsNumber() {
		attributes += fmt.Sprintf(` data-value="%s"`, allDigits(cell.Number))
	}
	intervalShown := c.Spread || cell.Bounded
	if cell.Kind == document.Interval && !intervalShown && cell.Low != cell.High {
		within := unitOf(c.Column, cell).Range(cell.Low, cell.High)
		attributes += fmt.Sprintf(` title="%s"`, escape("within "+within))
	}
	return attributes
}

// cellContent returns the value of a cell with its interval.
func (c htmlColumn) cellContent(cell document.Cell) string {
	content := html.EscapeString(valueText(c.Column, cell))
	if interval := intervalText(c.Column, cell); interval != "" {
		content += fmt.Sprintf(` <span class="spread">%s</span>`, html.EscapeString(interval))
	}
	return parenthesized(cell, content)
}

// noteLinks returns the marks of a cell, each with a link to its note.
func (f *fragment) noteLinks(marks []int) string {
	links := ""
	for _, mark := range marks {
		note, ok := f.notes[mark]
		if !ok {
			links += fmt.Sprintf("<sup>%d</sup>", mark)
			continue
		}
		links += fmt.Sprintf(`<sup><a href="#%s-note-%d" title="%s" aria-label="note %d">%d</a></sup>`,
			f.notePrefix, mark, escape(note), mark, mark)
	}
	return links
}

func escape(text string) string { return html.EscapeString(clean(text)) }
