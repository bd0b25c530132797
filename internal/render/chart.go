package render

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
)

// Charts draws the columns of t that name a chart (document.Column.Chart) as HTML: for every chart a table with a row of
// bars for each row of t, all on one linear scale from zero. Colour tells which of the page's colours a row has. It is
// empty where nothing would be compared.
func Charts(t document.Table, colour func(name string) int) string {
	var out strings.Builder
	for _, title := range chartTitles(t) {
		c := chartOf(t, title)
		if drawn := slices.ContainsFunc(t.Rows, func(r document.Row) bool { return c.holds(r) }); len(t.Rows) < 2 || !drawn {
			continue
		}
		c.write(&out, t.Rows, colour)
	}
	if out.Len() == 0 {
		return ""
	}
	return "<div class=\"picture\">\n" + out.String() + "</div>\n"
}

func chartTitles(t document.Table) []string {
	var titles []string
	for _, c := range t.Columns {
		if c.Chart != "" && !slices.Contains(titles, c.Chart) {
			titles = append(titles, c.Chart)
		}
	}
	return titles
}

// chart is a title with the columns it draws.
type chart struct {
	title          string
	names, columns []document.Column
	most           float64 // the longest bar or bound
}

func chartOf(t document.Table, title string) chart {
	c := chart{title: title}
	for _, column := range t.Columns {
		switch {
		case column.Row:
			c.names = append(c.names, column)
		case column.Chart == title:
			c.columns = append(c.columns, column)
		}
	}
	for _, row := range t.Rows {
		for _, column := range c.columns {
			cell := row[column.Key]
			for _, v := range []float64{cell.Number, cell.High} {
				if drawable(cell) && !math.IsInf(v, 0) {
					c.most = max(c.most, v)
				}
			}
		}
	}
	return c
}

func drawable(c document.Cell) bool {
	return (c.Kind == document.Figure || c.Kind == document.Interval) && c.Number >= 0 && !math.IsInf(c.Number, 0)
}

// holds tells that a row has something to draw.
func (c chart) holds(row document.Row) bool {
	return slices.ContainsFunc(c.columns, func(column document.Column) bool { return drawable(row[column.Key]) })
}

func (c chart) write(out *strings.Builder, rows []document.Row, colour func(string) int) {
	what, better, _ := strings.Cut(c.title, ": ")
	fmt.Fprintf(out, "<table class=\"glance\"><caption>%s <small>%s</small></caption><tbody>\n", escape(what), escape(better))
	for _, row := range rows {
		var words []string
		for _, column := range c.names {
			words = append(words, cellText(column, row[column.Key]))
		}
		name := strings.Join(words, ", ")
		fmt.Fprintf(out, "<tr><th scope=\"row\">%s</th>", html.EscapeString(name))
		if !c.holds(row) {
			fmt.Fprintf(out, "<td class=\"none\">%s</td></tr>\n", escape(c.instead(row)))
			continue
		}
		out.WriteString("<td>")
		for _, column := range c.columns {
			c.bar(out, column, row[column.Key], colour(name))
		}
		out.WriteString("</td></tr>\n")
	}
	out.WriteString("</tbody></table>\n")
}

// bar writes what a column has on its second line, the bar with its bounds, and the figure as tables have it.
func (c chart) bar(out *strings.Builder, column document.Column, cell document.Cell, colour int) {
	cell.Marks = nil
	column.Spread = false
	class := ""
	if cell.Unused {
		class = " unused"
	}
	fmt.Fprintf(out, "<span class=\"bar-line%s\">", class)
	if _, part, several := strings.Cut(column.Name, "\n"); several {
		fmt.Fprintf(out, "<span class=\"bar-name\">%s</span>", escape(part))
	}
	out.WriteString("<span class=\"bar-track\">")
	if drawable(cell) && c.most > 0 {
		fmt.Fprintf(out, "<span class=\"bar c%d\" style=\"width:%.2f%%\"></span>", colour, 100*cell.Number/c.most)
		if low, high := max(0, cell.Low), min(c.most, cell.High); cell.Kind == document.Interval && low < high {
			fmt.Fprintf(out, "<span class=\"bounds\" style=\"left:%.2f%%;width:%.2f%%\"></span>", 100*low/c.most, 100*(high-low)/c.most)
		}
	}
	fmt.Fprintf(out, "</span><span class=\"bar-value\">%s</span></span>", html.EscapeString(cellText(column, cell)))
}

// instead is what a row without a bar shows: how it ended, unless that was well.
func (c chart) instead(row document.Row) string {
	if status := row["status"]; status.Kind == document.Words && status.Text != "ok" {
		return status.Text
	}
	return "–"
}
