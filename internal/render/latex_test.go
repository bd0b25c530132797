package render

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

const hostile = "\\input{/etc/passwd} $x^2$ & 100 % of #1 a_b ~ <|> \"--\" }{ \\\\[1em] ≤ ≥ ×²"

func TestLaTeXPrintsAnyTextAsItIs(t *testing.T) {
	for text, want := range map[string]string{
		`\input{x}`: `\textbackslash{}input\{x\}`, "a_b & 5 %": `a\_b \& 5 \%`, "$1 #2": `\$1 \#2`, "--no": `-{}-{}no`, "≥ 2×": `$\geq$ 2$\times$`, "x¹²": `x\textsuperscript{1}\textsuperscript{2}`,
	} {
		if got := latex(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// hostileDocument is everything with a text that means much to TeX in each kind of place.
func hostileDocument() document.Document {
	d := everything()
	d.Title += hostile
	d.Add(document.Heading{Level: 1, Text: hostile}, document.Listing{Text: hostile + "\n\n  " + hostile}, document.Table{
		Title: hostile, Columns: []document.Column{{Key: "a", Name: "[" + hostile}, {Key: "b", Name: "b"}},
		Rows: []document.Row{{"a": document.Text("[" + hostile)}, {"a": document.Text("*" + hostile), "b": document.Text(hostile)}},
	})
	return d
}

func TestLaTeXTablesHaveTheRulesOfBooktabsAndAsManyCellsAsColumns(t *testing.T) {
	text := latexText(hostileDocument())
	tables := regexp.MustCompile(`(?s)\\begin\{longtable\}\{((?:p\{0\.4\\linewidth\}|[lr])+)\}\n\\toprule\n(.*?)\\end\{longtable\}`).FindAllStringSubmatch(text, -1)
	if len(tables) < 2 || len(tables) != strings.Count(text, `\begin{longtable}`) {
		t.Fatalf("%d tables:\n%s", len(tables), text)
	}
	command := regexp.MustCompile(`\\[\\{}$&#%_]`)
	for _, table := range tables {
		columns := len(regexp.MustCompile(`p\{0\.4\\linewidth\}`).ReplaceAllString(table[1], "p"))
		if !strings.Contains(table[2], "\\midrule\n\\endhead\n\\bottomrule\n\\endlastfoot\n") {
			t.Errorf("rules: %s", table[2])
		}
		if !strings.HasPrefix(table[2], "{}") {
			t.Errorf("a name that begins with a bracket would be the rule's width: %s", table[2])
		}
		for line := range strings.Lines(table[2]) {
			cells, isRow := strings.CutSuffix(line, " \\\\\n")
			if isRow && strings.Count(command.ReplaceAllString(cells, ""), "&")+1 != columns {
				t.Errorf("%d columns: %s", columns, line)
			}
		}
	}
	plain := command.ReplaceAllString(text, "")
	if open, closed := strings.Count(plain, "{"), strings.Count(plain, "}"); open != closed {
		t.Errorf("%d braces are opened, %d closed", open, closed)
	}
	if strings.Contains(text, `\input`) {
		t.Error("a text became a command")
	}
}

func TestLaTeXCompiles(t *testing.T) {
	testkit.Live(t)
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Meet(t.Context(), provision.Need{Command: "pdflatex", Apt: []string{"texlive-latex-recommended"}}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tex")
	if err := os.WriteFile(path, []byte("\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs,longtable,textcomp}\n\\begin{document}\n"+latexText(hostileDocument())+"\\end{document}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", path)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
