package render

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/unit"
)

func TestWordsOfAUserAreNoIntervalAndNoMarkup(t *testing.T) {
	const axis = `axis:a "b" x='1'>`
	table := document.Table{
		Columns: []document.Column{{Key: axis, Name: "a", MachinesOnly: true}, {Key: "v", Name: "v"}},
		Rows:    []document.Row{{axis: document.Text("x"), "v": document.Text("orders [eu]")}},
	}
	text := Fragment([]document.Block{table}, "x", 2)
	if !strings.Contains(text, ">orders [eu]<") || !strings.Contains(text, ` data-axis:a--b--x--1--="x"`) {
		t.Error(text)
	}
}

// A latency between two agents is shown with its bound. A program that reads it must not take it for exact.
func TestProgramsReadTheBoundsThatReadersSee(t *testing.T) {
	between := document.Cell{Kind: document.Interval, Number: 50, Low: 47, High: 53, Bounded: true}
	d := document.Document{Blocks: []document.Block{document.Table{
		Columns: []document.Column{{Key: "p50_ns", Name: "p50", Unit: unit.Nanoseconds}, {Key: "p99_ns", Name: "p99", Unit: unit.Nanoseconds}},
		Rows:    []document.Row{{"p50_ns": between, "p99_ns": document.Number(90)}, {"p50_ns": document.Number(10)}},
	}}}
	for format, want := range map[string]string{
		"csv": "p50_ns,p50_ns_low,p50_ns_high,p99_ns,notes\n50,47,53,90,\n10,,,,\n",
		"jsonl": `{"p50_ns":50,"p50_ns_low":47,"p50_ns_high":53,"p99_ns":90,"notes":[]}` + "\n" +
			`{"p50_ns":10,"p50_ns_low":null,"p50_ns_high":null,"p99_ns":null,"notes":[]}` + "\n",
	} {
		var out strings.Builder
		if err := Render(&out, d, format, Options{}); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, out.String(), want)
		}
	}
}

// A page stays well-formed whatever the order of its blocks: every element that is opened is closed, in its place.
func TestAFragmentIsWellFormedInEveryOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(51, 52))
	blocks := append(everything().Blocks, document.Note{Mark: 3, Text: "a note & more"}, document.Paragraph{Text: "<p>"}, document.Note{Mark: 4, Text: "another"})
	for range 200 {
		random.Shuffle(len(blocks), func(i, k int) { blocks[i], blocks[k] = blocks[k], blocks[i] })
		some := blocks[:1+random.IntN(len(blocks))]
		text := Fragment(some, "x", 2)
		decoder := xml.NewDecoder(strings.NewReader("<page>" + strings.ReplaceAll(text, "<br>", "<br/>") + "</page>"))
		notes, depth := 0, 0
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			switch e := token.(type) {
			case xml.StartElement:
				if e.Name.Local == "li" {
					if notes++; depth != 1 {
						t.Fatalf("a note outside of a list in\n%s", text)
					}
				}
				if e.Name.Local == "ul" {
					depth++
				}
			case xml.EndElement:
				if e.Name.Local == "ul" {
					depth--
				}
			}
		}
		if n := len(document.Document{Blocks: some}.Notes()); notes != n {
			t.Fatalf("%d notes of %d in\n%s", notes, n, text)
		}
	}
}

func TestATableOfMoreThanTwoHundredRowsIsFoldedAway(t *testing.T) {
	for n, folded := range map[int]bool{200: false, 201: true} {
		table := document.Table{Columns: []document.Column{{Key: "k", Name: "k"}}, Rows: slices.Repeat([]document.Row{{"k": document.Number(1)}}, n)}
		if got := strings.Contains(Fragment([]document.Block{table}, "x", 2), "<details"); got != folded {
			t.Errorf("%d rows are folded away: %v", n, got)
		}
	}
}

// terminal is a pseudo-terminal of so many columns.
func terminal(t *testing.T, columns uint16) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		testkit.Lacks(t, "no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		testkit.Lacks(t, "no pseudo-terminals here: %v", err)
	}
	return master
}

func TestAPageIsAsWideAsItsTerminal(t *testing.T) {
	for _, c := range []struct {
		columns       uint16
		term, noColor string
		want          Options
	}{
		{133, "xterm", "", Options{Width: 133, Colour: true}},
		{40, "xterm", "", Options{Width: 60, Colour: true}},
		{0, "xterm", "", Options{Width: 100, Colour: true}}, // a terminal that doesn't know
		{80, "dumb", "", Options{Width: 80}},
		{80, "xterm", "1", Options{Width: 80}},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.noColor)
		if got := OptionsFor(terminal(t, c.columns)); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c, got, c.want)
		}
	}
}

func TestATableOfNamesAloneIsShownWhole(t *testing.T) {
	table := document.Table{Columns: []document.Column{{Key: "a", Name: "a", Identifies: true}, {Key: "b", Name: "b", Identifies: true}}}
	table.Rows = []document.Row{{"a": document.Text(strings.Repeat("x", 30)), "b": document.Text(strings.Repeat("y", 30))}}
	var out strings.Builder
	if err := Render(&out, document.Document{Blocks: []document.Block{table}}, "terminal", Options{Width: 40}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{strings.Repeat("x", 30), strings.Repeat("y", 30)} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("%s isn't shown once:\n%s", want, out.String())
		}
	}
}

func TestARowOfAPageHoldsWhatMachinesRead(t *testing.T) {
	table := document.Table{
		Columns: []document.Column{{Key: "message_bytes", MachinesOnly: true}, {Key: "point_id", MachinesOnly: true}, {Key: "n_tests", MachinesOnly: true}, {Key: "name", Name: "name", Identifies: true}},
		Rows:    []document.Row{{"message_bytes": document.Number(1234.5), "point_id": document.Text("p"), "name": document.Text("kafka")}},
	}
	if text := Fragment([]document.Block{table}, "x", 2); !strings.Contains(text, `<tr data-message-bytes="1234.5" data-point-id="p" data-n-tests="">`) {
		t.Errorf("the row's data are missing in %s", text)
	}
}

func TestSentencesAreNarrowedToTwentyFourColumnsAndNoFurther(t *testing.T) {
	sentence := strings.Repeat("word ", 20)
	table := document.Table{
		Columns: []document.Column{{Key: "a", Name: "a", Identifies: true}, {Key: "b", Name: "b", Wide: true}, {Key: "c", Name: "c", Wide: true}},
		Rows:    []document.Row{{"a": document.Text("first"), "b": document.Text(sentence), "c": document.Text(sentence)}},
	}
	const narrowest = 5 + 2 + 24 + 2 + 24 // the name, and both sentences with a gap before each
	for width, parts := range map[int]int{narrowest: 1, narrowest - 1: 2} {
		var out strings.Builder
		if err := Render(&out, document.Document{Blocks: []document.Block{table}}, "terminal", Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "first"); got != parts {
			t.Errorf("at %d columns the table has %d parts, want %d:\n%s", width, got, parts, out.String())
		}
	}
}

func TestMarkdownShowsTextsAsTheyAre(t *testing.T) {
	d := document.Document{Title: "t", Blocks: []document.Block{
		document.Paragraph{Text: "- 3 messages lost"},
		document.Paragraph{Text: "+ one"},
		document.Paragraph{Text: "---"},
		document.Paragraph{Text: "1. first"},
		document.Paragraph{Text: "2) second"},
		document.Paragraph{Text: "1.5 ms - 2 ms"},
		document.Listing{Text: "a\n"},
		document.Listing{Text: "```\nb\n"},
	}}
	var out strings.Builder
	if err := Render(&out, d, "markdown", Options{}); err != nil {
		t.Fatal(err)
	}
	want := "# t\n\n\\- 3 messages lost\n\n\\+ one\n\n\\---\n\n1\\. first\n\n2\\) second\n\n1.5 ms - 2 ms\n\n```\na\n```\n\n````\n```\nb\n````\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

func TestEveryDataColumnOfARowHasItsOwnAttribute(t *testing.T) {
	table := document.Table{
		Columns: []document.Column{{Key: "batch_size", MachinesOnly: true}, {Key: "batch size", MachinesOnly: true}},
		Rows:    []document.Row{{"batch_size": document.Number(1), "batch size": document.Number(2)}},
	}
	if text := Fragment([]document.Block{table}, "x", 2); !strings.Contains(text, `<tr data-batch-size="1" data-batch-size-2="2">`) {
		t.Error(text)
	}
}

func TestAMarkWithoutItsNoteIsNoLink(t *testing.T) {
	table := document.Table{Columns: []document.Column{{Key: "k", Name: "k"}}, Rows: []document.Row{{"k": document.Text("v").Marked(1, 2)}}}
	text := Fragment([]document.Block{table, document.Note{Mark: 2, Text: "two"}}, "x", 2)
	if !strings.Contains(text, `v<sup>1</sup><sup><a href="#x-note-2"`) {
		t.Error(text)
	}
	if !strings.Contains(text, `aria-label="Table"`) {
		t.Errorf("a table without a title or a heading is no \"Table: \":\n%s", text)
	}
}
