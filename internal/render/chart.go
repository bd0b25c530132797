// Bar charts of tables, in HTML. A chart is itself an HTML table, which can be read without its colours: a row for each row of the
// document's table, with a bar, the bounds of its interval, and the figure.
//
//	kafka   ▇▇▇▇▇▇▇▇▇▇▇▇▇├─┤  412k/s
//	nats    ▇▇▇▇▇▇▇▇▇├┤       315k/s

package render

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
)

// maxRows is how many rows a chart draws. Of more rows it draws the best; the table beside it shows all.
const maxRows = 16

// Charts draws the columns of t that name a chart (document.Column.Chart) as HTML. Each chart is a table with the rows of t, and has one
// scale. colourOf gives the number of the page's colour for the label of a row. The result is empty if there is nothing to compare: fewer
// than two rows, or no figure.
func Charts(t document.Table, colourOf func(name string) int) string {
	if len(t.Rows) < 2 {
		return ""
	}
	var out strings.Builder
	for _, about := range t.Charts() {
		c := newChart(t, about)
		if slices.ContainsFunc(c.rows, c.hasBar) {
			out.WriteString(c.markup(colourOf))
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "<div class=\"picture\">\n" + out.String() + "</div>\n"
}

// chart is one chart of a table: its rows, and the columns by what the chart needs them for.
type chart struct {
	about    document.Chart
	rows     []document.Row
	bars     []document.Column // each draws a bar in every row; there is at least one
	names    []document.Column // their cells are the name of a row, beside its bars
	labelKey string            // of the column that a row's colour is chosen by; empty: the name chooses it
	statuses []document.Column // say how a row ended, where a bar is missing
	scale    scale             // of all bars
}

func newChart(t document.Table, about document.Chart) chart {
	c := chart{about: about, rows: t.Rows}
	var figures, upperBounds []float64 // of the bars
	for _, column := range t.Columns {
		switch {
		case column.Chart == about:
			c.bars = append(c.bars, column)
			for _, row := range t.Rows {
				cell := row[column.Key]
				if drawable(cell) {
					figures = append(figures, cell.Number)
				}
				if drawable(cell) && cell.Kind == document.Interval && !math.IsInf(cell.High, 1) {
					upperBounds = append(upperBounds, cell.High)
				}
			}
		case column.Label:
			c.labelKey = column.Key
		case column.Identifies && !column.MachinesOnly:
			c.names = append(c.names, column)
		case column.Attribute:
			c.statuses = append(c.statuses, column)
		}
	}
	c.scale = newScale(figures, upperBounds)
	return c
}

// drawable reports whether a cell has a figure that a bar can show.
func drawable(c document.Cell) bool {
	return c.IsNumber() && c.Number >= 0 && !math.IsInf(c.Number, 0)
}

// hasBar reports whether a row has a figure in any column of bars.
func (c chart) hasBar(row document.Row) bool {
	return slices.ContainsFunc(c.bars, func(column document.Column) bool { return drawable(row[column.Key]) })
}

// markup returns the chart as an HTML table.
func (c chart) markup(colourOf func(name string) int) string {
	rows, remarks := c.rows, c.about.Better.String()
	if len(rows) > maxRows {
		rows = c.best(maxRows)
		remarks += "; " + c.shown(len(rows))
	}
	if u := c.bars[0].Unit; c.scale.logarithmic {
		remarks += fmt.Sprintf("; logarithmic, %s to %s", u.Format(c.scale.from), u.Format(c.scale.to))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "<table class=\"glance\"><caption>%s <small>%s</small></caption><tbody>\n", escape(c.about.Title), escape(remarks))
	for _, row := range rows {
		fmt.Fprintf(&out, "<tr><th scope=\"row\">%s</th>", c.nameMarkup(row))
		if !c.hasBar(row) {
			fmt.Fprintf(&out, "<td class=\"none\">%s</td></tr>\n", escape(c.status(row)))
			continue
		}
		out.WriteString("<td>")
		for _, column := range c.bars {
			out.WriteString(c.barMarkup(column, row[column.Key], colourOf(c.label(row))))
		}
		out.WriteString("</td></tr>\n")
	}
	out.WriteString("</tbody></table>\n")
	return out.String()
}

// shown returns which rows stand for all: "the best 12 of 15 with a figure", or "the 12 of 18 with a figure".
func (c chart) shown(n int) string {
	drawn := 0
	for _, row := range c.rows {
		if c.hasBar(row) {
			drawn++
		}
	}
	if n < drawn {
		return fmt.Sprintf("the best %d of %d with a figure", n, drawn)
	}
	return fmt.Sprintf("the %d of %d with a figure", n, len(c.rows))
}

// label returns the name that a row's colour is chosen by. A column holds it, or it is the row's name: "kafka linger.ms=5".
func (c chart) label(row document.Row) string {
	if c.labelKey != "" {
		return row[c.labelKey].Text
	}
	words := lists.Map(c.namesOf(row), func(column document.Column) string {
		return settingPrefix(column) + cellText(column, row[column.Key])
	})
	return strings.Join(words, " ")
}

// namesOf returns the columns that name a row. Blank settings are left out, unless nothing else names the row.
func (c chart) namesOf(row document.Row) []document.Column {
	given := slices.DeleteFunc(slices.Clone(c.names), func(column document.Column) bool {
		return column.Named && row[column.Key].Kind == document.Blank
	})
	if len(given) == 0 {
		return c.names
	}
	return given
}

// nameMarkup returns the name of a row beside its bars. It may break in the path of a setting and before its value: there is little room.
func (c chart) nameMarkup(row document.Row) string {
	breaks := strings.NewReplacer(".", ".<wbr>", "=", "=<wbr>")
	words := lists.Map(c.namesOf(row), func(column document.Column) string {
		return breaks.Replace(html.EscapeString(settingPrefix(column))) + html.EscapeString(cellText(column, row[column.Key]))
	})
	return strings.Join(words, " ")
}

// settingPrefix stands before the value of a setting, which means nothing without it: "linger.ms=". It is empty for other columns.
func settingPrefix(column document.Column) string {
	if !column.Named {
		return ""
	}
	return clean(document.OneLine(column.Name)) + "="
}

// best returns the n best rows by their first bars, in the order of the table. Rows that have only other bars come after all that have
// the first. Rows without any bar are left out.
func (c chart) best(n int) []document.Row {
	key := c.bars[0].Key
	var picked, others []int // indexes of rows
	for i, row := range c.rows {
		switch {
		case drawable(row[key]):
			picked = append(picked, i)
		case c.hasBar(row):
			others = append(others, i)
		}
	}
	slices.SortStableFunc(picked, func(i, j int) int { return c.compare(c.rows[i][key], c.rows[j][key]) })
	picked = append(picked, others...)
	picked = picked[:min(len(picked), n)]
	slices.Sort(picked)
	return lists.Map(picked, func(i int) document.Row { return c.rows[i] })
}

// compare orders figures, the better one first. Unused ones are worse than all others.
func (c chart) compare(a, b document.Cell) int {
	switch {
	case a.Unused && !b.Unused:
		return 1
	case b.Unused && !a.Unused:
		return -1
	case c.about.Better == document.LessIsBetter:
		return cmp.Compare(a.Number, b.Number)
	}
	return cmp.Compare(b.Number, a.Number)
}

// barMarkup returns one bar of a row: the second line of the column's name, the track with the bar on it, and the figure.
func (c chart) barMarkup(column document.Column, cell document.Cell, colour int) string {
	class, name := "bar-line", ""
	if cell.Unused {
		class += " unused"
	}
	if _, secondLine, hasTwo := strings.Cut(column.Name, "\n"); hasTwo {
		name = fmt.Sprintf("<span class=\"bar-name\">%s</span>", escape(secondLine))
	}
	track := c.trackMarkup(cell, colour)
	cell.Marks, column.Spread = nil, false // footnotes and spreads stand in the table; a Bounded cell keeps its interval everywhere
	value := html.EscapeString(cellText(column, cell))
	if figure, bounds, isBounded := strings.Cut(value, " ["); isBounded { // on lines of their own, without breaks before a unit
		value = figure + " " + strings.ReplaceAll("["+bounds, " ", "\u00a0")
	}
	return fmt.Sprintf("<span class=\"%s\">%s%s<span class=\"bar-value\">%s</span></span>", class, name, track, value)
}

// trackMarkup returns the track of a bar with the bar and the bounds of its figure. A logarithmic scale has lines between its decades,
// and a dot instead of the bar: it has no zero at which a bar could begin.
func (c chart) trackMarkup(cell document.Cell, colour int) string {
	track, shape, place := "<span class=\"bar-track\">", "bar", "width"
	if c.scale.logarithmic {
		track = fmt.Sprintf("<span class=\"bar-track decades\" style=\"background-size:%.2f%%\">", 100/c.scale.decades())
		shape, place = "dot", "left"
	}
	if !drawable(cell) || c.scale.to == 0 {
		return track + "</span>"
	}
	track += fmt.Sprintf("<span class=\"%s c%d\" style=\"%s:%.2f%%\"></span>", shape, colour, place, c.scale.percent(cell.Number))
	low, high := max(c.scale.from, cell.Low), min(c.scale.to, cell.High)
	if cell.Kind == document.Interval && low < high {
		left, right := c.scale.percent(low), c.scale.percent(high)
		track += fmt.Sprintf("<span class=\"bounds\" style=\"left:%.2f%%;width:%.2f%%\"></span>", left, right-left)
	}
	return track + "</span>"
}

// status returns the text of a row without a bar: how it ended, or a dash if it ended well or nothing says how.
func (c chart) status(row document.Row) string {
	for _, column := range c.statuses {
		if status := row[column.Key]; status.Kind == document.Words && status.Text != "ok" {
			return status.Text
		}
	}
	return "–"
}

// scale places the figures of a chart on a track from 0 % to 100 %. It is linear from zero to the largest figure or bound, unless half of
// the bars would be too short to compare, because a few figures are far larger. Then it is logarithmic, and its ends are powers of ten:
// 1, 2, 3 and 500 ms would end at 0.2, 0.4, 0.6 and 100 % of a linear scale, and are at 0, 10, 16 and 90 % of one from 1 ms to 1 s.
type scale struct {
	logarithmic bool
	from, to    float64 // the figures at 0 % and at 100 %; both are zero if there are no figures
}

// shortMedian is the share of the track below which a median bar is too short to be compared with others.
const shortMedian = 1.0 / 30

// rounding is more than the error of [math.Log10], which gives 2.9999999999999996 for 1000 on some processors.
const rounding = 1e-9

// newScale returns the scale for figures, none of them below zero, and for the upper bounds of those that have one.
func newScale(figures, upperBounds []float64) scale {
	if len(figures) == 0 {
		return scale{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	least, median := sorted[0], sorted[len(sorted)/2]
	most := slices.Max(slices.Concat(figures, upperBounds))
	if least == 0 || median >= shortMedian*most { // zero has no place on a logarithmic scale
		return scale{to: most}
	}
	below := math.Pow10(int(math.Floor(math.Log10(least) + rounding)))
	above := math.Pow10(int(math.Ceil(math.Log10(most) - rounding)))
	return scale{logarithmic: true, from: max(below, math.SmallestNonzeroFloat64), to: min(above, math.MaxFloat64)}
}

// decades returns the number of powers of ten between the ends of a logarithmic scale.
func (s scale) decades() float64 { return math.Log10(s.to) - math.Log10(s.from) }

// percent returns where v lies between from and to. The latter must not be zero.
func (s scale) percent(v float64) float64 {
	if s.logarithmic {
		return 100 * (math.Log10(max(v, s.from)) - math.Log10(s.from)) / s.decades()
	}
	return 100 * v / s.to
}
