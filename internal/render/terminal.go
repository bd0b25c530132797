// Documents as text for a terminal, which fits its width:
//
//	broker   sustainable              e2e p99   doubts
//	──────────────────────────────────────────────────
//	kafka    412k/s [400k/s–425k/s]   4.90 ms       1¹
//
//	¹ throttled: the machine ran at 2.1 of 3.4 GHz

package render

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/brokermark/brokermark/internal/document"
)

// Widths, in columns of the terminal.
const (
	widestProse  = 120 // of lines of sentences if there is more room: longer ones are hard to read
	widestWords  = 30  // at which words in a table are wrapped
	widestPhrase = 56  // at which sentences in a table are wrapped
	leastPhrase  = 24  // down to which sentences are narrowed before a table is split
	gap          = 2   // between two columns of a table
)

// terminalText writes text that fits o.Width. Paragraphs are wrapped, and so are the sentences of
// tables that are too wide. A table that is too wide even so is split; each part repeats the columns
// that identify the rows.
func terminalText(d document.Document, o Options) string {
	w := terminalWriter{Options: o}
	if w.Width == 0 {
		w.Width = defaultWidth
	}
	w.out.WriteString(w.emphasized(d.Title) + "\n")
	for _, b := range d.Blocks {
		w.block(b)
	}
	return strings.TrimRight(w.out.String(), "\n") + "\n"
}

// terminalWriter gathers the text of a document.
type terminalWriter struct {
	Options
	out     strings.Builder
	inNotes bool // a footnote was written last: one that follows it needs no empty line
}

func (t *terminalWriter) proseWidth() int { return min(t.Width, widestProse) }

// block writes a block after an empty line.
func (t *terminalWriter) block(b document.Block) {
	_, isNote := b.(document.Note)
	startsNotes := isNote && !t.inNotes
	t.inNotes = isNote
	switch b := document.Worded(b).(type) {
	case document.Note:
		if startsNotes {
			t.out.WriteByte('\n')
		}
		t.out.WriteString(wrap(superscript(b.Mark)+" "+clean(b.Text), t.proseWidth(), "  ") + "\n")
	case document.Heading:
		t.out.WriteString("\n" + t.emphasized(b.Text) + "\n")
	case document.Paragraph:
		t.out.WriteString("\n" + wrap(clean(b.Text), t.proseWidth(), "") + "\n")
	case document.Listing:
		t.out.WriteString("\n" + strings.TrimRight(cleanLines(b.Text), "\n") + "\n")
	case document.Table:
		parts := split(forReaders(b), t.Width)
		if b.Title != "" {
			t.out.WriteString("\n" + t.emphasized(b.Title) + "\n")
		}
		for _, p := range parts {
			t.out.WriteString("\n" + t.table(p) + "\n")
		}
	default:
		unknownBlock("terminal", b)
	}
}

// emphasized wraps a title. It is bold where colours are shown.
func (t *terminalWriter) emphasized(title string) string {
	lines := wrap(clean(title), t.proseWidth(), "")
	if t.Colour {
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
func (t *terminalWriter) table(p part) string {
	tw := table.NewWriter()
	tw.SetStyle(tableStyle())
	tw.SuppressTrailingSpaces()
	header, configs := table.Row{}, []table.ColumnConfig{}
	for i, c := range p.Columns {
		header = append(header, cleanLines(c.Name))
		config := table.ColumnConfig{Number: i + 1, VAlignHeader: text.VAlignBottom}
		if numeric(p.Table, c) {
			config.Align, config.AlignHeader = text.AlignRight, text.AlignRight
		} else {
			config.WidthMax, config.WidthMaxEnforcer = p.widths[i], fold
		}
		configs = append(configs, config)
	}
	tw.AppendHeader(header)
	tw.SetColumnConfigs(configs)
	for _, row := range p.Rows {
		cells := table.Row{}
		for _, c := range p.Columns {
			cells = append(cells, t.cell(c, row[c.Key]))
		}
		tw.AppendRow(cells)
	}
	lines := strings.Split(tw.Render(), "\n")
	for i, line := range lines {
		if strings.Trim(line, "─") == "" { // the rule below the header goes on under the last column's padding
			lines[i] = strings.TrimSuffix(line, strings.Repeat("─", gap))
		}
	}
	return strings.Join(lines, "\n")
}

// cell writes a cell, in the colour of its tone where colours are shown.
func (t *terminalWriter) cell(c document.Column, cell document.Cell) string {
	words := cellText(c, cell)
	switch {
	case t.Colour && cell.Tone == document.Alarm:
		return text.FgRed.Sprint(words)
	case t.Colour && cell.Tone == document.Caution:
		return text.FgYellow.Sprint(words)
	}
	return words
}

// fold wraps the lines of a cell at width. A longer word is broken behind one of its separators: "github.com/twmb/franz-go" in 12 columns
// becomes "github.com/", "twmb/franz-" and "go".
func fold(lines string, width int) string {
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

// breakWord breaks a word behind separators into lines of at most width. What has no separator in its first width columns stays whole.
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

// lastSeparator is the index of the last separator in the first width columns of a word. It is -1 if there is none.
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

// wrap wraps a text at width. All lines but the first begin with indent.
func wrap(s string, width int, indent string) string {
	lines := strings.Split(text.WrapSoft(s, width-len(indent)), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n"+indent)
}
