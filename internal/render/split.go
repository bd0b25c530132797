// Tables cut into parts that fit a terminal. A table of the columns broker, load, status, rate, p50, p99 and doubts, whose first two identify
// the rows, may become two:
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

// part is a table, or some columns of one, as a terminal shows it.
type part struct {
	columns []sizedColumn
	rows    []document.Row
}

// sizedColumn is a column with its width on a terminal. The gap to the next column comes on top of it.
type sizedColumn struct {
	document.Column
	numeric bool // holds no words: aligned to the right, and never folded
	width   int  // at which its cells are folded
	least   int  // down to which the width may be cut; equal to the width unless the column holds sentences
}

// split cuts a table into parts that fit width, as far as that is possible: it narrows columns of sentences, then leaves out spare
// columns, then cuts. Each part begins with the columns that identify the rows.
func split(t document.Table, width int) []part {
	columns := sizedColumns(t)
	if leastWidth(columns) > width {
		columns = slices.DeleteFunc(columns, func(c sizedColumn) bool { return c.Spare })
	}
	isKey := func(c sizedColumn) bool { return c.Identifies }
	others := slices.DeleteFunc(slices.Clone(columns), isKey)
	if leastWidth(columns) <= width || len(others) == 0 {
		return []part{{columns: narrowed(columns, width), rows: t.Rows}}
	}
	keys := slices.DeleteFunc(columns, func(c sizedColumn) bool { return !isKey(c) })
	var parts []part
	for _, group := range evenGroups(others, width-leastWidth(keys)-gap) {
		parts = append(parts, part{columns: narrowed(slices.Concat(keys, group), width), rows: t.Rows})
	}
	return parts
}

// sizedColumns returns the columns of a table, as wide as their longest lines. Words and sentences are folded where they are longer than
// theirs may be.
func sizedColumns(t document.Table) []sizedColumn {
	var columns []sizedColumn
	for _, column := range t.Columns {
		c := sizedColumn{Column: column, numeric: numeric(t, column)}
		for line := range strings.Lines(c.Name) {
			c.width = max(c.width, text.StringWidth(strings.TrimSpace(line)))
		}
		for _, row := range t.Rows {
			c.width = max(c.width, text.StringWidth(cellText(column, row[c.Key])))
		}
		switch {
		case c.numeric:
		case c.Wide:
			c.width = min(c.width, widestPhrase)
		default:
			c.width = min(c.width, widestWords)
		}
		c.least = c.width
		if c.Wide {
			c.least = min(c.width, leastPhrase)
		}
		columns = append(columns, c)
	}
	return columns
}

// leastWidth returns the width of columns beside each other if all are as narrow as they may be.
func leastWidth(columns []sizedColumn) int {
	width := -gap // there is none behind the last column
	for _, c := range columns {
		width += c.least + gap
	}
	return width
}

// narrowed cuts the widths of columns, the first ones first, until all fit width or none may be narrower.
func narrowed(columns []sizedColumn, width int) []sizedColumn {
	narrow := slices.Clone(columns)
	excess := -gap - width
	for _, c := range narrow {
		excess += c.width + gap
	}
	for i, c := range narrow {
		cut := max(0, min(excess, c.width-c.least))
		narrow[i].width -= cut
		excess -= cut
	}
	return narrow
}

// groupsWithin divides columns into groups that have as many as fit width. A column that is wider has a group of its own.
func groupsWithin(columns []sizedColumn, width int) [][]sizedColumn {
	var groups [][]sizedColumn
	used := 0
	for _, c := range columns {
		if len(groups) == 0 || used+c.least > width {
			groups, used = append(groups, nil), 0
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], c)
		used += c.least + gap
	}
	return groups
}

// evenGroups is groupsWithin, unless the last group would have too few columns and none of sentences. Then it makes as many groups, each as
// narrow as possible: seven columns where six fit become groups of four and three, not of six and one.
func evenGroups(columns []sizedColumn, width int) [][]sizedColumn {
	even := groupsWithin(columns, width)
	last := even[len(even)-1]
	hasSentences := slices.ContainsFunc(last, func(c sizedColumn) bool { return c.Wide })
	if len(even) == 1 || len(last) > fewColumns || hasSentences {
		return even
	}
	for narrower := width - 1; narrower > 0; narrower-- {
		next := groupsWithin(columns, narrower)
		if len(next) > len(even) {
			break
		}
		even = next
	}
	return even
}
