package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
)

var update = flag.Bool("update", false, "write the golden files")

// everything has every kind of block, column and cell.
func everything() document.Document {
	d := document.Document{Title: "Everything *there* is"}
	d.Add(document.Heading{Level: 1, Text: "First | heading"}, document.Verdict{About: "100 B", Finding: "Lowest: a.", Detail: "Before b."},
		document.Verdict{About: "First", Finding: "Said above.", Headed: true}, document.Heading{Level: 2, Text: "Second"}, document.Warning{About: "two", Differ: []string{"a: <careful>"}}, document.Paragraph{Text: "Warning: a word, no warning"}, document.Heading{Level: 9, Text: "Deep"})
	d.Say("")
	d.Say("A paragraph that is rather longer than one line of the page, since it goes on and on about nothing, to be wrapped.")
	columns := []document.Column{
		{Key: "id", Name: "id", MachinesOnly: true},
		{Key: "name", Name: "name", Identifies: true},
		{Key: "status", Name: "status", Attribute: true},
		{Key: "rate", Name: "rate\nmeasured", Unit: unit.PerSecond, Spread: true},
		{Key: "p50_ns", Name: "p50", Unit: unit.Nanoseconds},
		{Key: "bytes", Name: "memory", Unit: unit.Bytes},
		{Key: "never", Name: "never there"},
		{Key: "mixed", Name: "mixed"},
		{Key: "lost", Name: "lost", Unit: unit.Count},
		{Key: "why", Name: "why", Wide: true},
	}
	interval := func(v, low, high float64) document.Cell {
		return document.Cell{Kind: document.Interval, Number: v, Low: low, High: high}
	}
	unused := document.Number(30.5)
	unused.Unused = true
	unusedBlank := document.Cell{Unused: true}
	d.Add(document.Table{Title: "The = table", Columns: columns, Rows: []document.Row{
		{
			"id": document.Text("=1"), "name": document.Text("kafka"), "status": document.Text("ok"), "rate": interval(1000, 900, 1100), "p50_ns": document.Number(1.5e6),
			"bytes": document.Number(1 << 20), "mixed": document.Number(0.25).In(unit.Share), "lost": document.Number(1234567), "why": document.Text("because"),
		},
		{
			"id": document.Text("2"), "name": document.Text("nats <core>"), "status": document.Text("failed").Toned(document.Alarm).Marked(1), "rate": interval(2000, 2000, 2000),
			"p50_ns": interval(2.5e6, 1e6, 4e6), "bytes": document.Number(math.NaN()), "mixed": document.Text("word"), "lost": document.Number(0), "why": document.Text(""),
		},
		{
			"id": document.Text("3"), "name": document.Text("rabbitmq"), "status": document.Text("void").Toned(document.Caution).Marked(1, 2).Marked(10), "rate": interval(5, 4, math.Inf(1)),
			"p50_ns": unused.Marked(2), "bytes": unusedBlank, "mixed": document.Number(7), "lost": document.Number(-3), "why": document.Text(strings.Repeat("a long story ", 7)),
		},
		{"id": document.Text(""), "name": document.Text("redis"), "status": document.Text("refused")},
	}})
	d.Add(document.Listing{Text: "key: value\n  nested:\t<1>\n"}, document.Table{Columns: []document.Column{{Key: "k", Name: "k", Identifies: true}, {Key: "v", Name: "v"}}, Rows: []document.Row{{"k": document.Text("a"), "v": document.Number(1)}, {"k": document.Text("b"), "v": document.Number(1.234567)}}},
		document.Table{Title: "Empty", Columns: []document.Column{{Key: "k", Name: "k"}}})
	d.Add(document.Note{Mark: 1, Text: "the first note, which is so long that it has to be wrapped on every page that is not very wide"}, document.Note{Mark: 2, Text: "the second & last"}, document.Note{Mark: 10, Text: "ten"})
	return d
}

func TestDocumentsLookAsTheyDid(t *testing.T) {
	render := func(format string, width int) string {
		var out bytes.Buffer
		if err := Render(&out, everything(), format, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for name, got := range map[string]string{
		"everything-60.txt": render("terminal", 60), "everything.txt": render("terminal", 0), "everything-200.txt": render("terminal", 200),
		"everything.md": render("markdown", 0), "everything.csv": render("csv", 0), "everything.jsonl": render("jsonl", 0),
		"everything.tex": render("latex", 0), "everything.html": Fragment(everything().Blocks, "x", 2),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; run with -update and look at the difference. Got:\n%s", path, got)
		}
	}
}

func TestATerminalShowsEveryCellWithinThePage(t *testing.T) {
	for width := 60; width <= 180; width += 7 {
		var out bytes.Buffer
		if err := Render(&out, everything(), "terminal", Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width && !strings.Contains(line, "nested") {
				t.Errorf("at %d a line has %d: %s", width, n, line)
			}
			if strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") && !strings.Contains(line, "│") {
				t.Errorf("at %d a line ends in spaces: %q", width, line)
			}
		}
		for _, want := range []string{"kafka", "nats <core>", "rabbitmq", "redis", "1k/s [900/s–1.10k/s]", "≥ 4/s", "2.50 ms", "(30.5 ns)²", "1 234 567", "25.0 %", "word", "void¹˒²˒¹⁰", "−3", "ten"} {
			if !strings.Contains(text, want) {
				t.Errorf("at %d there is no %q", width, want)
			}
		}
		for _, not := range []string{"never there", "(–)", "id\n", "2k/s ["} {
			if strings.Contains(text, not) {
				t.Errorf("at %d there is %q", width, not)
			}
		}
	}
}

// What machines read says the same as the cells, in base units.
func TestMachinesReadEveryCellBack(t *testing.T) {
	table := everything().Tables()[0]
	var out bytes.Buffer
	if err := Render(&out, document.Document{Blocks: []document.Block{table, document.Note{Mark: 1, Text: "one"}, document.Note{Mark: 2, Text: "two"}}}, "csv", Options{}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	if err := Render(&lines, document.Document{Blocks: []document.Block{table, document.Note{Mark: 1, Text: "one"}, document.Note{Mark: 2, Text: "two"}}}, "jsonl", Options{}); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(&lines)
	for i, cells := range table.Rows {
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			t.Fatal(err)
		}
		of := map[string]string{}
		for k, key := range rows[0] {
			of[key] = rows[i+1][k]
		}
		for _, c := range table.Columns {
			cell := cells[c.Key]
			same(t, c.Key, of[c.Key], object[c.Key], cell.Kind == document.Figure || cell.Kind == document.Interval, cell.Number, cell.Text)
			if c.Spread {
				same(t, c.Key+"_low", of[c.Key+"_low"], object[c.Key+"_low"], cell.Kind == document.Interval, cell.Low, "")
				same(t, c.Key+"_high", of[c.Key+"_high"], object[c.Key+"_high"], cell.Kind == document.Interval && !math.IsInf(cell.High, 0), cell.High, "")
			}
		}
		if object["table"] != "The = table" || of["table"] != "The = table" {
			t.Errorf("row %d is of the table %v, %q", i, object["table"], of["table"])
		}
		want := []string{"", "one", "one | two", ""}[i]
		if got := strings.Trim(strings.TrimSuffix(of["notes"], " | "), " |"); got != want {
			t.Errorf("row %d has the notes %q, want %q", i, of["notes"], want)
		}
	}
}

func same(t *testing.T, key, field string, value any, isNumber bool, number float64, text string) {
	t.Helper()
	switch {
	case isNumber:
		if got, err := strconv.ParseFloat(field, 64); err != nil || got != number || value != number {
			t.Errorf("%s is %q and %v, want %v", key, field, value, number)
		}
	case text != "":
		if strings.TrimPrefix(field, "'") != strings.TrimSpace(text) || value != strings.TrimSpace(text) {
			t.Errorf("%s is %q and %q, want %q", key, field, value, text)
		}
	case field != "" || value != nil:
		t.Errorf("%s is %q and %v, want nothing", key, field, value)
	}
}

func TestADocumentWithoutATableIsItsSentencesAsCSV(t *testing.T) {
	var out bytes.Buffer
	d := document.Document{Title: "t", Blocks: []document.Block{document.Heading{Level: 1, Text: "h"}, document.Paragraph{Text: "=first"}, document.Verdict{About: "a", Finding: "b."}}}
	if err := Render(&out, d, "csv", Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "text\n'=first\na. b.\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// Keys of columns may be axes of a study from elsewhere.
func TestAHeaderOfCSVIsNoFormula(t *testing.T) {
	var out bytes.Buffer
	d := document.Document{Blocks: []document.Block{document.Table{
		Columns: []document.Column{{Key: "=1+1", Name: "x"}}, Rows: []document.Row{{"=1+1": document.Text("a")}},
	}}}
	if err := Render(&out, d, "csv", Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "'=1+1,notes\na,\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

type broken struct{ after int }

func (b *broken) Write(p []byte) (int, error) {
	if b.after -= len(p); b.after < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestAFailedWriteIsReported(t *testing.T) {
	for _, format := range Formats() {
		var whole bytes.Buffer
		if err := Render(&whole, everything(), format, Options{}); err != nil {
			t.Fatal(err)
		}
		for _, after := range []int{0, 1, whole.Len() / 2, whole.Len() - 1} {
			if err := Render(&broken{after}, everything(), format, Options{}); err == nil {
				t.Errorf("%s: no error after %d of %d bytes", format, after, whole.Len())
			}
		}
	}
	for _, b := range []document.Block{document.Paragraph{Text: "p"}, document.Listing{Text: "l"}, everything().Tables()[1]} {
		if err := Render(&broken{0}, document.Document{Blocks: []document.Block{b}}, "jsonl", Options{}); err == nil {
			t.Errorf("no error for %T", b)
		}
	}
}

func TestEmphasisIsOnlyForThoseWhoAskForIt(t *testing.T) {
	var plain, bold bytes.Buffer
	if err := errors.Join(Render(&plain, everything(), "terminal", Options{Width: 90}), Render(&bold, everything(), "terminal", Options{Width: 90, Colour: true})); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("escape sequences that nobody asked for")
	}
	for _, want := range []string{"\x1b[1mEverything", "\x1b[1mFirst | heading\x1b[0m", "\x1b[1mThe = table\x1b[0m", "\x1b[31mfailed¹\x1b[0m", "\x1b[33mvoid¹˒²˒¹⁰\x1b[0m"} {
		if !strings.Contains(bold.String(), want) {
			t.Errorf("no %q in %q", want, bold.String())
		}
	}
	if strings.Contains(bold.String(), "\x1b[31mrefused") || strings.Contains(bold.String(), "m1k/s") {
		t.Error("colour where there is nothing to stress")
	}
	broken := document.Table{Columns: []document.Column{{Key: "verdict", Name: "v"}, {Key: "other", Name: "o"}}, Rows: []document.Row{{"verdict": document.Text("broken").Toned(document.Alarm), "other": document.Text("failed")}}}
	bold.Reset()
	if err := Render(&bold, document.Document{Blocks: []document.Block{broken}}, "terminal", Options{Colour: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(bold.String(), "\x1b[31mbroken") || strings.Contains(bold.String(), "\x1b[31mfailed") {
		t.Errorf("%q", bold.String())
	}
}

func TestALongTableOfAPageIsFoldedAway(t *testing.T) {
	for n, folded := range map[int]bool{longTable: false, longTable + 1: true} {
		table := document.Table{Columns: []document.Column{{Key: "k", Name: "k"}}}
		for i := range n {
			table.Rows = append(table.Rows, document.Row{"k": document.Number(i)})
		}
		text := Fragment([]document.Block{table}, "x", 2)
		if got := strings.Contains(text, "<details"); got != folded || strings.Contains(text, "</details>") != folded || strings.Contains(text, fmt.Sprintf("<summary>%d rows", n)) != folded {
			t.Errorf("%d rows are folded away: %v, want %v", n, got, folded)
		}
	}
}

func TestAPageTheTerminalDoesNotKnowIsAHundredColumnsWide(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if o := OptionsFor(file); o != (Options{Width: 100}) {
		t.Errorf("%+v", o)
	}
}
