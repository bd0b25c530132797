// Tables as bar charts in HTML. A chart is itself a table, so that it is read without its colours, too: a row for each row of the table, with
// a bar, the bounds of its interval and the figure.
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
)

// maxBars is how many rows a chart draws. Of more rows it draws the best; the table beside it shows all.
const maxBars = 16

// Charts draws the columns of t that name a chart (document.Column.Chart) as HTML. A chart is a table with a row of bars for each row of
// t, all on one scale (newScale). colour is the number of the page's colour for a row's name. The result is empty if there is
// nothing to compare.
func Charts(t document.Table, colour func(name string) int) string {
	var out strings.Builder
	for _, about := range chartsOf(t) {
		c := newChart(t, about)
		if len(t.Rows) > 1 && slices.ContainsFunc(t.Rows, c.hasBar) {
			c.write(&out, t.Rows, colour)
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "<div class=\"picture\">\n" + out.String() + "</div>\n"
}

// chartsOf lists the charts that columns name, each once.
func chartsOf(t document.Table) []document.Chart {
	var charts []document.Chart
	for _, c := range t.Columns {
		if c.Chart.Title != "" && !slices.Contains(charts, c.Chart) {
			charts = append(charts, c.Chart)
		}
	}
	return charts
}

// chart is a chart with the columns that it needs.
type chart struct {
	document.Chart
	nameKey string            // of the column that names rows for their colours; empty if names do
	names   nameColumns       // shown beside the bars
	endings []document.Column // say how a row ended, for rows without a bar
	drawn   []document.Column // a bar each
	scale   scale             // shared by all rows
}

func newChart(t document.Table, about document.Chart) chart {
	c := chart{Chart: about}
	for _, column := range t.Columns {
		switch {
		case column.Label:
			c.nameKey = column.Key
		case column.Row && !column.Data:
			c.names = append(c.names, column)
		case column.Chart == about:
			c.drawn = append(c.drawn, column)
		case column.Attribute:
			c.endings = append(c.endings, column)
		}
	}
	var figures, bounds []float64
	for _, row := range t.Rows {
		for _, column := range c.drawn {
			if cell := row[column.Key]; drawable(cell) {
				figures = append(figures, cell.Number)
				if !math.IsInf(cell.High, 1) { // an unknown bound ends with the scale
					bounds = append(bounds, cell.High)
				}
			}
		}
	}
	c.scale = newScale(figures, bounds)
	return c
}

// drawable tells whether a cell has a figure that a bar can show.
func drawable(c document.Cell) bool {
	return isNumber(c) && c.Number >= 0 && !math.IsInf(c.Number, 0)
}

// hasBar tells whether a row has a bar in the chart.
func (c chart) hasBar(row document.Row) bool {
	return slices.ContainsFunc(c.drawn, func(column document.Column) bool { return drawable(row[column.Key]) })
}

func (c chart) write(out *strings.Builder, rows []document.Row, colour func(string) int) {
	better := c.Better.String()
	if all := len(rows); all > maxBars {
		rows = c.best(rows)
		better += fmt.Sprintf("; the best %d of %d", len(rows), all)
	}
	if c.scale.logarithmic() {
		u := c.drawn[0].Unit
		better += fmt.Sprintf("; logarithmic, %s to %s", u.Format(c.scale.from), u.Format(c.scale.to))
	}
	fmt.Fprintf(out, "<table class=\"glance\"><caption>%s <small>%s</small></caption><tbody>\n", escape(c.Title), escape(better))
	for _, row := range rows {
		fmt.Fprintf(out, "<tr><th scope=\"row\">%s</th>", c.names.markup(row))
		if !c.hasBar(row) {
			fmt.Fprintf(out, "<td class=\"none\">%s</td></tr>\n", escape(c.ending(row)))
			continue
		}
		out.WriteString("<td>")
		for _, column := range c.drawn {
			c.writeBar(out, column, row[column.Key], colour(c.name(row)))
		}
		out.WriteString("</td></tr>\n")
	}
	out.WriteString("</tbody></table>\n")
}

// name is the name by which a row has its colour.
func (c chart) name(row document.Row) string {
	if c.nameKey != "" {
		return row[c.nameKey].Text
	}
	return c.names.text(row)
}

// nameColumns are the columns that name a row.
type nameColumns []document.Column

// text names a row: "kafka linger.ms=5".
func (n nameColumns) text(row document.Row) string {
	var words []string
	for _, column := range n {
		words = append(words, prefix(column)+cellText(column, row[column.Key]))
	}
	return strings.Join(words, " ")
}

// markup is text as HTML that may break in the path of a setting: there is little room.
func (n nameColumns) markup(row document.Row) string {
	var words []string
	for _, column := range n {
		path := strings.ReplaceAll(html.EscapeString(prefix(column)), ".", ".<wbr>")
		words = append(words, path+html.EscapeString(cellText(column, row[column.Key])))
	}
	return strings.Join(words, " ")
}

// prefix is the name of a setting before its value, which means nothing without it.
func prefix(column document.Column) string {
	if !column.Named {
		return ""
	}
	return clean(document.OneLine(column.Name)) + "="
}

// best picks the maxBars rows whose first figures are the best, and keeps them in the order of the table. Figures that no conclusion is drawn
// from come after all others.
func (c chart) best(rows []document.Row) []document.Row {
	key := c.drawn[0].Key // a chart has a column
	var picked []int      // indexes in rows
	for i, row := range rows {
		if drawable(row[key]) {
			picked = append(picked, i)
		}
	}
	slices.SortStableFunc(picked, func(i, j int) int {
		a, b := rows[i][key], rows[j][key]
		switch {
		case a.Unused && !b.Unused:
			return 1
		case b.Unused && !a.Unused:
			return -1
		case c.Better == document.LessIsBetter:
			return cmp.Compare(a.Number, b.Number)
		}
		return cmp.Compare(b.Number, a.Number)
	})
	picked = picked[:min(len(picked), maxBars)]
	slices.Sort(picked)
	var best []document.Row
	for _, i := range picked {
		best = append(best, rows[i])
	}
	return best
}

// writeBar writes the second line of the column's name, the bar or dot with its bounds, and the figure as tables have it.
func (c chart) writeBar(out *strings.Builder, column document.Column, cell document.Cell, colour int) {
	class := ""
	if cell.Unused {
		class = " unused"
	}
	fmt.Fprintf(out, "<span class=\"bar-line%s\">", class)
	if _, part, ok := strings.Cut(column.Name, "\n"); ok {
		fmt.Fprintf(out, "<span class=\"bar-name\">%s</span>", escape(part))
	}
	if c.scale.logarithmic() { // lines between the decades, and a dot: a bar would begin at no zero
		fmt.Fprintf(out, "<span class=\"bar-track decades\" style=\"background-size:%.2f%%\">", 100/c.scale.decades())
	} else {
		out.WriteString("<span class=\"bar-track\">")
	}
	if drawable(cell) && c.scale.to > 0 {
		if at := c.scale.percent(cell.Number); c.scale.logarithmic() {
			fmt.Fprintf(out, "<span class=\"dot c%d\" style=\"left:%.2f%%\"></span>", colour, at)
		} else {
			fmt.Fprintf(out, "<span class=\"bar c%d\" style=\"width:%.2f%%\"></span>", colour, at)
		}
		if low, high := max(c.scale.from, cell.Low), min(c.scale.to, cell.High); cell.Kind == document.Interval && low < high {
			from, to := c.scale.percent(low), c.scale.percent(high)
			fmt.Fprintf(out, "<span class=\"bounds\" style=\"left:%.2f%%;width:%.2f%%\"></span>", from, to-from)
		}
	}
	cell.Marks, column.Spread = nil, false // footnotes and intervals stand in the table
	fmt.Fprintf(out, "</span><span class=\"bar-value\">%s</span></span>", html.EscapeString(cellText(column, cell)))
}

// ending is the text of a row without a bar: how it ended, unless that was well.
func (c chart) ending(row document.Row) string {
	for _, column := range c.endings {
		if status := row[column.Key]; status.Kind == document.Words && status.Text != "ok" {
			return status.Text
		}
	}
	return "–"
}
