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

// Charts draws the columns of t that name a chart (document.Column.Chart) as HTML: for every chart a table with a row of
// bars for each row of t, all on one linear scale from zero. Colour tells which of the page's colours a row has. It is
// empty if nothing would be compared.
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
	title   string
	label   string // the key of the column that names rows for their colours; "" = names do
	names   names
	columns []document.Column
	most    float64 // the longest bar or bound of any row
}

func chartOf(t document.Table, title string) chart {
	c := chart{title: title}
	for _, column := range t.Columns {
		switch {
		case column.Label:
			c.label = column.Key
		case column.Row && !column.Data:
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
	if all := len(rows); all > mostBars {
		rows = c.best(rows, strings.HasPrefix(better, "less"))
		better += fmt.Sprintf("; the best %d of %d", len(rows), all)
	}
	fmt.Fprintf(out, "<table class=\"glance\"><caption>%s <small>%s</small></caption><tbody>\n", escape(what), escape(better))
	for _, row := range rows {
		id, heading := c.names.of(row)
		if c.label != "" {
			id = row[c.label].Text
		}
		fmt.Fprintf(out, "<tr><th scope=\"row\">%s</th>", heading)
		if !c.holds(row) {
			fmt.Fprintf(out, "<td class=\"none\">%s</td></tr>\n", escape(c.instead(row)))
			continue
		}
		out.WriteString("<td>")
		for _, column := range c.columns {
			c.bar(out, column, row[column.Key], colour(id))
		}
		out.WriteString("</td></tr>\n")
	}
	out.WriteString("</tbody></table>\n")
}

// names are the columns that name a row.
type names []document.Column

// of names a row, in words and as HTML, which may break in the path of a setting: there is little room.
func (n names) of(row document.Row) (text, markup string) {
	var words, marked []string
	for _, column := range n {
		word := cellText(column, row[column.Key])
		setting := ""
		if column.Named {
			setting = clean(document.OneLine(column.Name)) + "="
		}
		words = append(words, setting+word)
		marked = append(marked, strings.ReplaceAll(html.EscapeString(setting), ".", ".<wbr>")+html.EscapeString(word))
	}
	return strings.Join(words, " "), strings.Join(marked, " ")
}

// mostBars is how many rows a chart has; of more it shows the best, and the table beside it has all.
const mostBars = 16

// best are those rows whose first figures are the best, in the order of the table.
func (c chart) best(rows []document.Row, less bool) []document.Row {
	order := []int{}
	for i, row := range rows {
		if drawable(row[c.columns[0].Key]) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := rows[i][c.columns[0].Key], rows[j][c.columns[0].Key]
		better := cmp.Compare(b.Number, a.Number)
		if less {
			better = -better
		}
		return cmp.Or(compareBool(a.Unused, b.Unused), better)
	})
	order = order[:min(len(order), mostBars)]
	slices.Sort(order)
	var best []document.Row
	for _, i := range order {
		best = append(best, rows[i])
	}
	return best
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// bar writes the second line of the column's name, the bar with its bounds, and the figure as tables have it.
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

// instead is the text of a row without a bar: how it ended, unless that was well.
func (c chart) instead(row document.Row) string {
	if status := row["status"]; status.Kind == document.Words && status.Text != "ok" {
		return status.Text
	}
	return "–"
}
