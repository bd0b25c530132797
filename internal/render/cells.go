// Formats for readers share how they write a cell, and which columns they show.

package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
)

// forReaders drops the columns that are for programs, and those that are blank in every row.
func forReaders(t document.Table) document.Table {
	var shown []document.Column
	for _, c := range t.Columns {
		filled := func(row document.Row) bool { return row[c.Key].Kind != document.Blank || len(row[c.Key].Marks) > 0 }
		headOfNothing := c.Row && len(t.Rows) == 0 // a table without rows shows what its rows would have been
		if !c.Data && (headOfNothing || slices.ContainsFunc(t.Rows, filled)) {
			shown = append(shown, c)
		}
	}
	return document.Table{Title: t.Title, Columns: shown, Rows: t.Rows}
}

// numeric tells whether a column holds no words. Columns of numbers are aligned to the right, with their blanks.
func numeric(t document.Table, c document.Column) bool {
	return !slices.ContainsFunc(t.Rows, func(row document.Row) bool { return row[c.Key].Kind == document.Words })
}

// isNumber tells whether a cell holds a number.
func isNumber(cell document.Cell) bool {
	return cell.Kind == document.Figure || cell.Kind == document.Interval
}

// unitOf is the unit of a cell's number: the cell's own, else the column's.
func unitOf(c document.Column, cell document.Cell) unit.Unit {
	if cell.Unit != unit.None {
		return cell.Unit
	}
	return c.Unit
}

// cellText writes a cell for people: "1.50 ms [1.20 ms–1.80 ms]¹˒²". Cells that no conclusion is drawn from stand in parentheses.
func cellText(c document.Column, cell document.Cell) string {
	words := valueText(c, cell)
	if cell.Unused && cell.Kind != document.Blank {
		words = "(" + words + ")"
	}
	for i, mark := range cell.Marks {
		if i > 0 {
			words += "˒"
		}
		words += superscript(mark)
	}
	return words
}

// valueText writes a cell's words, or its number with its interval if that is shown and isn't lost in rounding.
func valueText(c document.Column, cell document.Cell) string {
	switch cell.Kind {
	case document.Blank:
		return "–"
	case document.Words:
		return clean(cell.Text)
	}
	u := unitOf(c, cell)
	number := u.Format(cell.Number)
	showInterval := cell.Kind == document.Interval && (c.Spread || cell.Bounded)
	if showInterval && (u.Format(cell.Low) != number || u.Format(cell.High) != number) {
		return number + " [" + u.Range(cell.Low, cell.High) + "]"
	}
	return number
}

func superscript(n int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	return strings.Map(func(r rune) rune { return digits[r-'0'] }, fmt.Sprint(n))
}

// unknownBlock panics: a document has a kind of block that a format doesn't know, and would silently lack it.
func unknownBlock(format string, b document.Block) {
	panic(fmt.Sprintf("render: the format %s has no form for %T", format, b))
}
