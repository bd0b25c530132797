// Tables cut into parts that fit a terminal. A table of the columns broker, load, status, rate, p50, p99 and doubts, of which the first two
// identify the rows, may become two:
//
//	broker  load  status  rate          broker  load  p50  p99  doubts

package render

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/brokermark/brokermark/internal/document"
)

// fewColumns is how many columns are too few for a part of their own: a reader would overlook them below the others.
const fewColumns = 2

// part is a table, or some columns of one, with the widths at which its columns are wrapped.
type part struct {
	document.Table
	widths []int
}

// split cuts a table into parts that fit width, as far as that is possible: it narrows columns of sentences, then leaves out spare
// columns, then cuts. Each part begins with the columns that identify the rows.
func split(t document.Table, width int) []part {
	if p, fits := narrowed(t, width); fits {
		return []part{p}
	}
	kept := slices.DeleteFunc(slices.Clone(t.Columns), func(c document.Column) bool { return c.Spare })
	if len(kept) < len(t.Columns) {
		return split(document.Table{Title: t.Title, Columns: kept, Rows: t.Rows}, width)
	}
	c := cutterOf(t)
	if c.columns == nil { // all columns identify the rows
		return []part{{Table: t, widths: columnWidths(t)}}
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
func narrowed(t document.Table, width int) (p part, fits bool) {
	p = part{Table: t, widths: columnWidths(t)}
	excess := -gap - width // columns by which the table is too wide; there is no gap after the last one
	for _, w := range p.widths {
		excess += w + gap
	}
	for i, c := range t.Columns {
		if c.Wide && excess > 0 {
			cut := min(excess, max(0, p.widths[i]-leastPhrase))
			p.widths[i] -= cut
			excess -= cut
		}
	}
	return p, excess <= 0
}

// cutter divides the columns of a table among parts. Widths are columns of the terminal.
type cutter struct {
	keys     []document.Column // repeated in every part
	keyWidth int               // of all keys with their gaps
	columns  []document.Column // each in one part
	least    []int             // the least width of each of columns
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

// cuts is the number of columns in each part, if each part has as many as fit. A column that is wider than the terminal has a part of its
// own.
func (c cutter) cuts(width int) []int {
	var cuts []int
	for first := 0; first < len(c.columns); {
		n, used := 0, c.keyWidth
		for first+n < len(c.columns) && (n == 0 || used+c.least[first+n] <= width) {
			used += c.least[first+n] + gap
			n++
		}
		cuts = append(cuts, n)
		first += n
	}
	return cuts
}

// evenCuts is cuts, with parts of about the same width if the last part would have too few columns. It narrows the parts as long as
// that makes no further part.
func (c cutter) evenCuts(width int) []int {
	cuts := c.cuts(width)
	last := c.columns[len(c.columns)-cuts[len(cuts)-1]:]
	sentences := slices.ContainsFunc(last, func(c document.Column) bool { return c.Wide })
	if len(cuts) == 1 || len(last) > fewColumns || sentences {
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

// columnWidths are the widths of the longest line of each column. Words and sentences are wrapped where they are longer than theirs.
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
			widths[i] = min(widths[i], widestWords)
		}
	}
	return widths
}
