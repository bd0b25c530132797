// What the formats for readers share: which columns they show, and how they write a cell.

package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/unit"
)

// forReaders drops the columns that are for programs, and those that are blank in every row.
func forReaders(t document.Table) document.Table {
	t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c document.Column) bool { return c.MachinesOnly || isBlank(t, c) })
	return t
}

// isBlank reports whether a column shows nothing in any row. In a table without rows, the columns that would identify them show what the
// table is about.
func isBlank(t document.Table, c document.Column) bool {
	if len(t.Rows) == 0 {
		return !c.Identifies
	}
	shows := func(row document.Row) bool { return row[c.Key].Kind != document.Blank || len(row[c.Key].Marks) > 0 }
	return !slices.ContainsFunc(t.Rows, shows)
}

// numeric reports whether a column holds no words. Such columns are aligned to the right.
func numeric(t document.Table, c document.Column) bool {
	return !slices.ContainsFunc(t.Rows, func(row document.Row) bool {
		return row[c.Key].Kind == document.Words
	})
}

// unitOf returns the unit of a cell's number: the cell's own, else the column's.
func unitOf(c document.Column, cell document.Cell) unit.Unit { return cmp.Or(cell.Unit, c.Unit) }

// cellText writes a cell for people: "1.50 ms [1.20 ms–1.80 ms]¹˒²".
func cellText(c document.Column, cell document.Cell) string {
	text := valueText(c, cell)
	if interval := intervalText(c, cell); interval != "" {
		text += " " + interval
	}
	return parenthesized(cell, text) + strings.Join(lists.Map(cell.Marks, superscript), "˒")
}

// valueText writes a cell's words, or its number without the interval.
func valueText(c document.Column, cell document.Cell) string {
	switch cell.Kind {
	case document.Blank:
		return "–"
	case document.Words:
		return clean(cell.Text)
	}
	if cell.AtLeast {
		return unitOf(c, cell).Range(cell.Number, math.Inf(1)) // "≥ 1.50 ms"
	}
	return unitOf(c, cell).Format(cell.Number)
}

// intervalText writes the interval of a cell's number: "[1.20 ms–1.80 ms]". It is empty if the
// column doesn't show intervals, if the number is a lower bound, or if both bounds round to the number.
func intervalText(c document.Column, cell document.Cell) string {
	u := unitOf(c, cell)
	number := u.Format(cell.Number)
	isShown := cell.Kind == document.Interval && (c.Spread || cell.Bounded) && !cell.AtLeast
	if !isShown || (u.Format(cell.Low) == number && u.Format(cell.High) == number) {
		return ""
	}
	return "[" + u.Range(cell.Low, cell.High) + "]"
}

// parenthesized sets the text of a cell in parentheses if no conclusion is drawn from the cell.
func parenthesized(cell document.Cell, text string) string {
	if cell.Unused && cell.Kind != document.Blank {
		return "(" + text + ")"
	}
	return text
}

func superscript(n int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	return strings.Map(func(r rune) rune { return digits[r-'0'] }, fmt.Sprint(n))
}

// unknownBlock returns the text with which a format panics for a kind of block that it can't show. Without the panic the
// block would be lost.
func unknownBlock(format string, b document.Block) string {
	return fmt.Sprintf("render: the format %s has no form for %T", format, b)
}
