// Documents as text for a terminal, which fits its width:
//
//	broker   sustainable              e2e p99   doubts
//	──────────────────────────────────────────────────
//	kafka    412k/s [400k/s–425k/s]   4.90 ms       1¹
//
//	¹ throttled: the machine ran at 2.1 of 3.4 GHz

package render

import (
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
)

// Widths, in columns of the terminal.
const (
	widestProse  = 120 // of a line of text on any terminal: longer lines are hard to read
	widestWords  = 30  // of a table's column of words, which are wrapped beyond it
	widestPhrase = 56  // of a table's column of sentences
	leastPhrase  = 24  // to which a column of sentences is narrowed before its table is split
	gap          = 2   // between two columns of a table
)

// terminalText writes text that fits o.Width. Paragraphs are wrapped, and so are the sentences of tables that are too wide. A
// table that is too wide even so is split; each part repeats the columns that identify the rows.
func terminalText(d document.Document, o Options) string {
	page := terminalPage{width: o.Width, colour: o.Colour}
	if page.width <= 0 {
		page.width = defaultWidth
	}
	var out strings.Builder
	out.WriteString(page.emphasized(d.Title) + "\n")
	afterNote := false
	for _, b := range d.Blocks {
		_, isNote := b.(document.Note)
		if !isNote || !afterNote { // an empty line between blocks, but none between footnotes
			out.WriteString("\n")
		}
		out.WriteString(page.block(b) + "\n")
		afterNote = isNote
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// terminalPage is the terminal that text is written for.
type terminalPage struct {
	width  int  // in columns
	colour bool // escape sequences make titles bold and colour cells
}

func (p terminalPage) proseWidth() int { return min(p.width, widestProse) }

// block returns the text of a block, without a line break at its end.
func (p terminalPage) block(b document.Block) string {
	switch b := document.Worded(b).(type) {
	case document.Note:
		mark := superscript(b.Mark) + " "
		return wrap(mark+clean(b.Text), p.proseWidth(), strings.Repeat(" ", text.StringWidth(mark)))
	case document.Heading:
		return p.emphasized(b.Text)
	case document.Paragraph:
		return wrap(clean(b.Text), p.proseWidth(), "")
	case document.Listing:
		return strings.TrimRight(CleanLines(b.Text), "\n")
	case document.Table:
		var texts []string
		if b.Title != "" {
			texts = append(texts, p.emphasized(b.Title))
		}
		return strings.Join(append(texts, lists.Map(split(forReaders(b), p.width), p.table)...), "\n\n")
	default:
		panic(unknownBlock("terminal", b))
	}
}

// emphasized wraps a title. It is bold where colours are shown.
func (p terminalPage) emphasized(title string) string {
	lines := wrap(clean(title), p.proseWidth(), "")
	if p.colour {
		return text.Bold.EscapeSeq() + lines + text.Reset.EscapeSeq()
	}
	return lines
}

// tableStyle has a rule below the header and no other lines.
func tableStyle() table.Style {
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true, DoNotColorBordersAndSeparators: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	style.Format.Header, style.Format.HeaderAlign = text.FormatDefault, text.AlignDefault
	return style
}

// table draws a table, or a part of one.
func (p terminalPage) table(t part) string {
	writer := table.NewWriter()
	writer.SetStyle(tableStyle())
	writer.SuppressTrailingSpaces()
	var header table.Row
	var configs []table.ColumnConfig
	rows := make([]table.Row, len(t.rows))
	for i, c := range t.columns {
		config := table.ColumnConfig{Number: i + 1, VAlignHeader: text.VAlignBottom}
		if c.numeric {
			config.Align, config.AlignHeader = text.AlignRight, text.AlignRight
		}
		configs = append(configs, config)
		header = append(header, c.fold(CleanLines(c.Name)))
		for k, row := range t.rows {
			cell := row[c.Key]
			rows[k] = append(rows[k], p.toned(c.fold(cellText(c.Column, cell)), cell.Tone))
		}
	}
	writer.AppendHeader(header)
	writer.SetColumnConfigs(configs)
	writer.AppendRows(rows)
	lines := strings.Split(writer.Render(), "\n")
	for i, line := range lines {
		if strings.Trim(line, "─") == "" { // the rule below the header goes on under the last column's padding
			lines[i] = strings.TrimSuffix(line, strings.Repeat("─", gap))
		}
	}
	return strings.Join(lines, "\n")
}

// toned colours the words of each line by their tone where colours are shown. Spaces at the end of a line stay without: the table
// leaves them out there.
func (p terminalPage) toned(cell string, tone document.Tone) string {
	colours := map[document.Tone]text.Color{document.Alarm: text.FgRed, document.Caution: text.FgYellow}
	colour, hasColour := colours[tone]
	if !p.colour || !hasColour {
		return cell
	}
	lines := strings.Split(cell, "\n")
	for i, line := range lines {
		words := strings.TrimRight(line, " ")
		lines[i] = colour.EscapeSeq() + words + text.Reset.EscapeSeq() + line[len(words):]
	}
	return strings.Join(lines, "\n")
}

// fold wraps the lines of a cell at the column's width. Numbers stay whole.
func (c sizedColumn) fold(lines string) string {
	if c.numeric {
		return lines
	}
	return foldLines(lines, c.width)
}

// foldLines wraps lines at width. A longer word is broken behind one of its separators: "github.com/twmb/franz-go" in 12 columns
// becomes "github.com/", "twmb/franz-" and "go".
func foldLines(lines string, width int) string {
	var folded []string
	for _, line := range strings.Split(lines, "\n") {
		words := strings.Split(line, " ")
		for i, word := range words {
			words[i] = breakWord(word, width)
		}
		folded = append(folded, text.WrapSoft(strings.Join(words, " "), width))
	}
	return strings.Join(folded, "\n")
}

// breakWord breaks a word behind separators into lines of at most width. A word without a separator in its first
// width columns stays whole.
func breakWord(word string, width int) string {
	var lines []string
	for text.StringWidth(word) > width {
		end := lastSeparator(word, width) + 1
		if end < 2 { // none, or one that begins the word, such as a minus sign
			break
		}
		lines, word = append(lines, word[:end]), word[end:]
	}
	return strings.Join(append(lines, word), "\n")
}

// lastSeparator returns the index of the last separator in the first width columns of a word. It returns -1 if there is none.
func lastSeparator(word string, width int) int {
	last, used := -1, 0
	for i, r := range word {
		if used += text.RuneWidth(r); used > width {
			break
		}
		if strings.ContainsRune("/-.,_=@", r) {
			last = i
		}
	}
	return last
}

// wrap wraps a text at width, but not between a number and its unit. All lines but the first begin with indent.
func wrap(s string, width int, indent string) string {
	s = beforeUnit.ReplaceAllString(s, "$1"+keptBlank+"$2")
	lines := strings.Split(text.WrapSoft(s, max(1, width-len(indent))), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(lines[i], keptBlank, " "), " ")
	}
	return strings.Join(lines, "\n"+indent)
}

var beforeUnit = regexp.MustCompile(`(\d) (%|[nµm]?s\b|[kMGT]?i?B\b)`)

// keptBlank stands for a blank at which text.WrapSoft must not wrap: it does so at every space of Unicode.
const keptBlank = "\u2800"
