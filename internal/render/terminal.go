package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
)

// gap is the space between two columns.
const gap = 2

// fewColumns are too few to stand in a part of their own.
const fewColumns = 2

// widest is the width at which words in a table are wrapped, sentences a good deal later.
const (
	widest       = 30
	widestPhrase = 56
	leastPhrase  = 24 // down to which sentences are narrowed before a table is split
)

// widestProse is the width of lines of sentences if there is more room: longer ones are hard to read.
const widestProse = 120

// renderTerminal writes text that fits o.Width: paragraphs are wrapped, so are the sentences of tables that are too
// wide; a table that is too wide even so is split, repeating the columns that tell rows apart.
func renderTerminal(w io.Writer, d document.Document, o Options) error {
	if o.Width == 0 {
		o.Width = 100
	}
	prose := min(o.Width, widestProse)
	var out strings.Builder
	emphasis := func(s string) string {
		if o.Colour {
			return text.Bold.EscapeSeq() + s + text.Reset.EscapeSeq()
		}
		return s
	}
	out.WriteString(emphasis(wrap(clean(d.Title), prose, "")) + "\n")
	noted := false
	for _, b := range d.Blocks {
		switch b := document.Worded(b).(type) {
		case document.Heading:
			out.WriteString("\n" + emphasis(wrap(clean(b.Text), prose, "")) + "\n")
		case document.Paragraph:
			out.WriteString("\n" + wrap(clean(b.Text), prose, "") + "\n")
		case document.Note:
			if !noted {
				out.WriteByte('\n')
				noted = true
			}
			out.WriteString(wrap(superscript(b.Mark)+" "+clean(b.Text), prose, "  ") + "\n")
		case document.Listing:
			out.WriteString("\n" + strings.TrimRight(cleanLines(b.Text), "\n") + "\n")
		case document.Table:
			for i, part := range split(forReaders(b), o.Width) {
				if i == 0 && b.Title != "" {
					out.WriteString("\n" + emphasis(wrap(clean(b.Title), prose, "")) + "\n")
				}
				out.WriteString("\n" + terminalTable(part, o) + "\n")
			}
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(out.String(), "\n")+"\n")
	return err
}

func terminalTable(t part, o Options) string {
	tw := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true, DoNotColorBordersAndSeparators: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	style.Format.Header, style.Format.HeaderAlign = text.FormatDefault, text.AlignDefault
	tw.SetStyle(style)
	tw.SuppressTrailingSpaces()
	header, configs := table.Row{}, []table.ColumnConfig{}
	for i, c := range t.Columns {
		header = append(header, cleanLines(c.Name))
		config := table.ColumnConfig{Number: i + 1, VAlignHeader: text.VAlignBottom}
		if numeric(t.Table, c) {
			config.Align, config.AlignHeader = text.AlignRight, text.AlignRight
		} else {
			config.WidthMax, config.WidthMaxEnforcer = t.widths[i], fold
		}
		configs = append(configs, config)
	}
	tw.AppendHeader(header)
	tw.SetColumnConfigs(configs)
	for _, row := range t.Rows {
		out := table.Row{}
		for _, c := range t.Columns {
			out = append(out, colour(c, row[c.Key], o))
		}
		tw.AppendRow(out)
	}
	lines := strings.Split(tw.Render(), "\n")
	for i, line := range lines {
		if strings.Trim(line, "─") == "" { // the rule below the header goes on under the last column's padding
			lines[i] = strings.TrimSuffix(line, strings.Repeat("─", gap))
		}
	}
	return strings.Join(lines, "\n")
}

// colour writes a cell in the colour of its tone.
func colour(c document.Column, cell document.Cell, o Options) string {
	words := cellText(c, cell)
	switch {
	case o.Colour && cell.Tone == document.Alarm:
		return text.FgRed.Sprint(words)
	case o.Colour && cell.Tone == document.Caution:
		return text.FgYellow.Sprint(words)
	}
	return words
}

// forReaders drops columns that are for machines and those that hold nothing in any row.
func forReaders(t document.Table) document.Table {
	var shown []document.Column
	for _, c := range t.Columns {
		filled := func(row document.Row) bool { return row[c.Key].Kind != document.Blank || len(row[c.Key].Marks) > 0 }
		if !c.Data && (c.Row && len(t.Rows) == 0 || slices.ContainsFunc(t.Rows, filled)) {
			shown = append(shown, c)
		}
	}
	return document.Table{Title: t.Title, Columns: shown, Rows: t.Rows}
}

// numeric tells that a column holds numbers, which are aligned to the right.
func numeric(t document.Table, c document.Column) bool {
	return !slices.ContainsFunc(t.Rows, func(row document.Row) bool { return row[c.Key].Kind == document.Words })
}

// cellText writes a cell for people.
func cellText(c document.Column, cell document.Cell) string {
	var words string
	u := c.Unit
	if cell.Unit != unit.None {
		u = cell.Unit
	}
	switch {
	case cell.Kind == document.Blank:
		words = "–"
	case cell.Kind == document.Words:
		words = clean(cell.Text)
	case cell.Kind == document.Interval && (c.Spread || cell.Bounded):
		words = u.Format(cell.Number)
		if low, high := u.Format(cell.Low), u.Format(cell.High); low != words || high != words {
			words += " [" + u.Range(cell.Low, cell.High) + "]"
		}
	default:
		words = u.Format(cell.Number)
	}
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

func superscript(n int) string {
	return strings.Map(func(r rune) rune { return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0'] }, fmt.Sprint(n))
}

// fold wraps s at width; a word that is longer is broken behind one of its own separators, so that "…/franz-go" stays
// readable.
func fold(s string, width int) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = foldLine(line, width)
	}
	return strings.Join(lines, "\n")
}

func foldLine(s string, width int) string {
	const separators = "/-.,_=@"
	words := strings.Split(s, " ")
	for i, word := range words {
		var pieces []string
		for text.StringWidth(word) > width {
			runes := []rune(word)
			at := strings.LastIndexAny(string(runes[:width]), separators) + 1
			if at < 2 || len(string(runes[:width])) != width { // none, or not plain letters
				break
			}
			pieces, word = append(pieces, word[:at]), word[at:]
		}
		words[i] = strings.Join(append(pieces, word), "\n")
	}
	return text.WrapSoft(strings.Join(words, " "), width)
}

func wrap(s string, width int, indent string) string {
	lines := strings.Split(text.WrapSoft(s, width-len(indent)), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n"+indent)
}
