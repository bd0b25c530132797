package render

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/brokermark/brokermark/internal/document"
)

// part is a table with the widths at which its columns are wrapped.
type part struct {
	document.Table
	widths []int
}

// split cuts a table into parts that fit width. Each part begins with the columns that identify the rows.
func split(t document.Table, width int) []part {
	if whole, fits := narrowed(t, width); fits {
		return []part{whole}
	}
	if kept := slices.DeleteFunc(slices.Clone(t.Columns), func(c document.Column) bool { return c.Spare }); len(kept) < len(t.Columns) {
		return split(document.Table{Title: t.Title, Columns: kept, Rows: t.Rows}, width)
	}
	c := cutterOf(t)
	if c.columns == nil {
		return []part{{t, columnWidths(t)}}
	}
	var parts []part
	rest := c.columns
	for _, n := range c.evenCuts(width) {
		p, _ := narrowed(document.Table{Title: t.Title, Columns: slices.Concat(c.keys, rest[:n]), Rows: t.Rows}, width)
		parts = append(parts, p)
		rest = rest[n:]
	}
	return parts
}

// narrowed makes the columns of sentences narrower until t fits, and tells whether it does.
func narrowed(t document.Table, width int) (part, bool) {
	p := part{t, columnWidths(t)}
	over := -gap - width
	for _, w := range p.widths {
		over += w + gap
	}
	for i, c := range t.Columns {
		if c.Wide && over > 0 {
			give := min(over, max(0, p.widths[i]-leastPhrase))
			p.widths[i] -= give
			over -= give
		}
	}
	return p, over <= 0
}

// cutter divides the columns of a table among parts.
type cutter struct {
	keys     []document.Column // in every part
	keyWidth int               // of all keys
	columns  []document.Column // in one part each
	least    []int             // the least width of each of them
}

func cutterOf(t document.Table) cutter {
	var c cutter
	for i, width := range columnWidths(t) {
		column := t.Columns[i]
		if column.Row {
			c.keys = append(c.keys, column)
			c.keyWidth += width + gap
			continue
		}
		if column.Wide {
			width = min(width, leastPhrase)
		}
		c.columns, c.least = append(c.columns, column), append(c.least, width)
	}
	return c
}

// cuts is the number of columns in each part, if each part has as many as fit.
func (c cutter) cuts(width int) []int {
	var cuts []int
	for first := 0; first < len(c.columns); {
		n, at := 0, c.keyWidth
		for first+n < len(c.columns) && (n == 0 || at+c.least[first+n] <= width) {
			at += c.least[first+n] + gap
			n++
		}
		cuts = append(cuts, n)
		first += n
	}
	return cuts
}

// evenCuts makes parts of about the same width if the last part would have a column or two, which are easily overlooked
// below all others.
func (c cutter) evenCuts(width int) []int {
	cuts := c.cuts(width)
	last := c.columns[len(c.columns)-cuts[len(cuts)-1]:]
	if len(cuts) == 1 || len(last) > fewColumns || slices.ContainsFunc(last, func(c document.Column) bool { return c.Wide }) {
		return cuts
	}
	for narrower := width - 1; narrower > c.keyWidth; narrower-- {
		even := c.cuts(narrower)
		if len(even) > len(cuts) {
			break
		}
		cuts = even
	}
	return cuts
}

func columnWidths(t document.Table) []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		for line := range strings.Lines(c.Name) {
			widths[i] = max(widths[i], text.StringWidth(strings.TrimSpace(line)))
		}
		for _, row := range t.Rows {
			widths[i] = max(widths[i], text.StringWidth(cellText(c, row[c.Key])))
		}
		switch {
		case numeric(t, c):
		case c.Wide:
			widths[i] = min(widths[i], widestPhrase)
		default:
			widths[i] = min(widths[i], widest)
		}
	}
	return widths
}
