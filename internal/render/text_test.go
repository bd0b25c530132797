package render

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/reports"
)

func TestTextIsMadeHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[2Jboo":                     "[2Jboo",
		"a\r\nb\tc":                      "a b c",
		"user\u202egnp.exe":              "usergnp.exe",
		"broken \xff utf8":               "broken \uFFFD utf8",
		"zero\u200bwidth\u0085\u009bnel": "zerowidthnel",
		"Zürich – 東京":                    "Zürich – 東京",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\t=1": "'=1", "fine": "fine", "": "",
	} {
		if got := Inert(in); got != want {
			t.Errorf("Inert(%q) = %q, want %q", in, got, want)
		}
	}
	if got := literal("a|b *c* <d> `e`"); got != "a\\|b \\*c\\* &lt;d&gt; \\`e\\`" {
		t.Errorf("literal: %q", got)
	}
}

func TestAnUnknownFormatOrReportIsAnsweredWithWhatThereIs(t *testing.T) {
	if err := Render(nil, document.Document{}, "pdf", Options{}); err == nil || !strings.Contains(err.Error(), "csv, jsonl, latex, markdown, terminal") {
		t.Error(err)
	}
	if _, err := reports.Lookup("nonsense"); err == nil || !strings.Contains(err.Error(), `unknown report "nonsense"`) {
		t.Error(err)
	}
}

func TestColourIsOnlyAddedWhenAsked(t *testing.T) {
	d := document.Document{Title: "T", Blocks: []document.Block{document.Table{
		Columns: []document.Column{{Key: "status", Name: "status"}},
		Rows:    []document.Row{{"status": document.Text("failed").Toned(document.Alarm)}, {"status": document.Text("void").Toned(document.Caution)}, {"status": document.Text("ok")}},
	}}}
	for _, colour := range []bool{false, true} {
		var out strings.Builder
		if err := Render(&out, d, "terminal", Options{Colour: colour}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "\x1b[") != colour {
			t.Errorf("colour %v: %q", colour, out.String())
		}
	}
}

func TestWordsThatAreTooLongAreBrokenBehindASeparator(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short words stay", 20, "short words stay"},
		{"github.com/apache/pulsar-client-go", 30, "github.com/apache/pulsar-\nclient-go"},
		{"see client.max.in.flight.requests.per.connection=5", 20, "see client.max.in.\nflight.requests.per.\nconnection=5"},
		{strings.Repeat("x", 12), 5, "xxxxx\nxxxxx\nxx"},
		{"a/bcdefghij", 5, "a/\nbcdef\nghij"},
		{"/bcdefghij", 5, "/bcde\nfghij"}, // nothing would stand before the separator
	} {
		got := foldLines(c.text, c.width)
		for strings.Contains(got, " \n") { // padded to the width
			got = strings.ReplaceAll(got, " \n", "\n")
		}
		if got != c.want {
			t.Errorf("%q at %d became %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestSentencesAreNarrowedBeforeATableIsSplit(t *testing.T) {
	var d document.Document
	d.Add(document.Table{
		Columns: []document.Column{{Key: "a", Name: "a", Identifies: true}, {Key: "b", Name: "b"}, {Key: "why", Name: "why", Wide: true}},
		Rows:    []document.Row{{"a": document.Text("first"), "b": document.Text("second"), "why": document.Text("a sentence that would take all of the line and more than that")}},
	})
	var out strings.Builder
	if err := Render(&out, d, "terminal", Options{Width: 50}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "first"); n != 1 {
		t.Errorf("the row was split into %d:\n%s", n, out.String())
	}
}

func TestATableWiderThanAnyPageIsShownWholeAllTheSame(t *testing.T) {
	row, columns := document.Row{}, []document.Column{{Key: "k", Name: "k", Identifies: true}}
	row["k"] = document.Text(strings.Repeat("key", 9))
	for _, name := range []string{"first", "second", "third"} {
		columns = append(columns, document.Column{Key: name, Name: name})
		row[name] = document.Number(1234567890123).In(unit.Count)
	}
	var d document.Document
	d.Add(document.Table{Columns: columns, Rows: []document.Row{row}})
	var out strings.Builder
	if err := Render(&out, d, "terminal", Options{Width: 20}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second", "third"} {
		if strings.Count(out.String(), name) != 1 {
			t.Errorf("column %s isn't there once:\n%s", name, out.String())
		}
	}
}

func TestAPipeIsAsWideAsColumnsSays(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for columns, want := range map[string]int{"": 100, "80": 80, "200": 200, "10": 60, "wide": 100, "-5": 100} {
		t.Setenv("COLUMNS", columns)
		if got := OptionsFor(w).Width; got != want {
			t.Errorf("with COLUMNS=%q a pipe is %d wide, want %d", columns, got, want)
		}
	}
}

func TestAColumnAloneDoesNotStandBelowAllOthers(t *testing.T) {
	table := document.Table{Columns: []document.Column{{Key: "who", Name: "who", Identifies: true}}}
	row := document.Row{"who": document.Text("kafka")}
	for i := range 8 {
		key := fmt.Sprint("figure", i)
		table.Columns, row[key] = append(table.Columns, document.Column{Key: key, Name: key}), document.Number(i)
	}
	table.Rows = []document.Row{row}
	for _, width := range []int{40, 64, 72} {
		var sizes []int
		for _, p := range split(table, width) {
			sizes = append(sizes, len(p.columns)-1)
		}
		if len(sizes) < 2 || slices.Min(sizes) < slices.Max(sizes)-2 || slices.Min(sizes) == 1 {
			t.Errorf("at %d columns the parts have %v columns", width, sizes)
		}
	}
	if parts := split(document.Table{Columns: table.Columns[:1], Rows: table.Rows}, 2); len(parts) != 1 {
		t.Errorf("a table of nothing but names has %d parts", len(parts))
	}
}

func TestWordsOfWideCharactersAreFoldedByTheirWidth(t *testing.T) {
	for word, want := range map[string]string{
		strings.Repeat("測", 40):                                 strings.Repeat("測", 28) + "\n" + strings.Repeat("測", 12),
		strings.Repeat("測", 20) + "/" + strings.Repeat("試", 20): strings.Repeat("測", 20) + "/\n" + strings.Repeat("試", 20),
		"an ordinary line":                                      "an ordinary line",
	} {
		got := foldLines(word, 56)
		for strings.Contains(got, " \n") { // the library pads lines
			got = strings.ReplaceAll(got, " \n", "\n")
		}
		if got != want {
			t.Errorf("%s is folded to\n%s\nwant\n%s", word, got, want)
		}
	}
}

func TestANumberStaysWithItsUnitWhereALineEnds(t *testing.T) {
	for text, want := range map[string]string{
		"bounds within 10 % of it":   "bounds within\n  10 % of it",
		"it took about 8.65 ms more": "it took about\n  8.65 ms more",
		"of 3 brokers, ten failed":   "of 3 brokers,\n  ten failed",
		"the sum of it is 12 sums":   "the sum of it is\n  12 sums",
	} {
		if got := wrap(text, 18, "  "); got != want {
			t.Errorf("%q in lines of 18: %q, want %q", text, got, want)
		}
	}
}

func TestFootnotesInTheMiddleOfATextStandApart(t *testing.T) {
	d := document.Document{Title: "T"}
	d.Add(document.Note{Mark: 1, Text: "a"}, document.Note{Mark: 2, Text: "b"}, document.Paragraph{Text: "p"}, document.Note{Mark: 3, Text: "c"})
	if got, want := terminalText(d, Options{Width: 80}), "T\n\n¹ a\n² b\n\np\n\n³ c\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheLinesOfAFootnoteBeginBelowItsFirstWord(t *testing.T) {
	d := document.Document{Title: "T"}
	d.Add(document.Note{Mark: 9, Text: "one two"}, document.Note{Mark: 10, Text: "one two"})
	if got, want := terminalText(d, Options{Width: 9}), "T\n\n⁹ one\n  two\n¹⁰ one\n   two\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Escape sequences take no columns: a coloured cell is folded where the same cell without colours is.
func TestColoursDoNotChangeWhereACellIsFolded(t *testing.T) {
	escapes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, words := range []string{
		"github.com/twmb/franz-go/v1234", // as wide as its column
		"failed: github.com/apache/pulsar-client-go after 30 s and two more attempts",
		strings.Repeat("測", 20),
	} {
		d := document.Document{Title: "T"}
		d.Add(document.Table{
			Columns: []document.Column{{Key: "who", Name: "who"}, {Key: "status", Name: "status"}, {Key: "n", Name: "n"}},
			Rows:    []document.Row{{"who": document.Text("a"), "status": document.Text(words).Toned(document.Alarm), "n": document.Number(1)}},
		})
		plain, coloured := terminalText(d, Options{Width: 80}), terminalText(d, Options{Width: 80, Colour: true})
		if got := escapes.ReplaceAllString(coloured, ""); got != plain {
			t.Errorf("with colours:\n%s\nwithout:\n%s", got, plain)
		}
		for _, line := range strings.Split(coloured, "\n")[2:] { // below the title
			if strings.Count(line, text.FgRed.EscapeSeq()) != strings.Count(line, text.Reset.EscapeSeq()) {
				t.Errorf("a line's colour does not end with it: %q", line)
			}
		}
	}
}

func TestNoTextIsLostOnAPageOfNoWidth(t *testing.T) {
	d := document.Document{Title: "title"}
	d.Add(document.Paragraph{Text: "paragraph"}, document.Note{Mark: 1, Text: "note"})
	for _, width := range []int{-5, 1, 2, 3} {
		got := strings.Join(strings.Fields(terminalText(d, Options{Width: width})), "")
		if got != "titleparagraph¹note" {
			t.Errorf("at a width of %d: %q", width, got)
		}
	}
}
