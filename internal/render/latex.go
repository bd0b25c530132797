package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
)

// latexText writes a document as a part of a LaTeX document, with the rules of the package booktabs. Tables may break across pages.
func latexText(d document.Document) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%% \\usepackage{booktabs,longtable,textcomp}\n\\section*{%s}\n", latex(d.Title))
	for _, b := range d.Blocks {
		switch b := document.Worded(b).(type) {
		case document.Heading:
			commands := []string{"subsection*", "subsubsection*", "paragraph*"}
			fmt.Fprintf(&out, "\n\\%s{%s}\n", commands[min(max(b.Level, 1), len(commands))-1], latex(b.Text))
		case document.Paragraph:
			fmt.Fprintf(&out, "\n%s\n", latex(b.Text))
		case document.Note:
			fmt.Fprintf(&out, "\n\\noindent\\textsuperscript{%d} %s\n", b.Mark, latex(b.Text))
		case document.Listing:
			out.WriteString("\n\\begin{flushleft}\\ttfamily\n")
			for line := range strings.Lines(strings.TrimRight(CleanLines(b.Text), "\n")) {
				fmt.Fprintf(&out, "\\mbox{}%s\\\\\n", strings.ReplaceAll(latexEscapes.Replace(strings.TrimRight(line, "\n")), " ", "~"))
			}
			out.WriteString("\\end{flushleft}\n")
		case document.Table:
			writeLatexTable(&out, forReaders(b))
		default:
			panic(unknownBlock("latex", b))
		}
	}
	return out.String()
}

// writeLatexTable writes a table below its title. A table without columns is its title only.
func writeLatexTable(out *strings.Builder, t document.Table) {
	if t.Title != "" {
		fmt.Fprintf(out, "\n\\paragraph*{%s}\n", latex(t.Title))
	}
	if len(t.Columns) == 0 {
		return
	}
	var names, alignments []string
	for _, c := range t.Columns {
		names = append(names, latex(document.OneLine(c.Name)))
		switch {
		case c.Wide:
			alignments = append(alignments, `p{0.4\linewidth}`)
		case numeric(t, c):
			alignments = append(alignments, "r")
		default:
			alignments = append(alignments, "l")
		}
	}
	// {} keeps a bracket at the beginning of a row from being an argument of what stands before it.
	fmt.Fprintf(out, "\n\\begin{longtable}{%s}\n\\toprule\n{}%s \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endlastfoot\n",
		strings.Join(alignments, ""), strings.Join(names, " & "))
	for _, row := range t.Rows {
		cells := lists.Map(t.Columns, func(c document.Column) string { return latex(cellText(c, row[c.Key])) })
		fmt.Fprintf(out, "{}%s \\\\\n", strings.Join(cells, " & "))
	}
	out.WriteString("\\end{longtable}\n")
}

// latex returns LaTeX that prints the text as it is, in one line.
func latex(text string) string { return latexEscapes.Replace(clean(text)) }

// latexEscapes are for characters that mean something, and for those of reports and superscripts that pdfLaTeX's usual fonts lack.
var latexEscapes = strings.NewReplacer(slices.Concat([]string{
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `\textless{}`, `>`, `\textgreater{}`, `|`, `\textbar{}`,
	`"`, `\textquotedbl{}`, "`", `\textasciigrave{}`, `'`, `\textquotesingle{}`, `--`, `-{}-{}`,
	`≤`, `$\leq$`, `≥`, `$\geq$`, `≠`, `$\neq$`, `≈`, `$\approx$`, `×`, `$\times$`, `÷`, `$\div$`, `±`, `$\pm$`, `−`, `$-$`,
	`→`, `$\rightarrow$`, `∞`, `$\infty$`, `µ`, `\textmu{}`, `·`, `\textperiodcentered{}`, `–`, `--`, `…`, `\dots{}`, `˒`, `\textsuperscript{,}`,
}, latexSuperscripts())...)

func latexSuperscripts() []string {
	var pairs []string
	for n := range 10 {
		pairs = append(pairs, superscript(n), fmt.Sprintf(`\textsuperscript{%d}`, n))
	}
	return pairs
}
