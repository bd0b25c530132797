package report

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNumbersAreWrittenWithThreeDigitsAndAUnit(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{Nanoseconds, math.NaN(), "–"},
		{PerSecond, math.Inf(1), "unknown"},
		{Nanoseconds, 0, "0 ns"},
		{Nanoseconds, 1, "1.00 ns"},
		{Nanoseconds, 999, "999 ns"},
		{Nanoseconds, 999_400, "999 µs"},
		{Nanoseconds, 999_600, "1.00 ms"},
		{Nanoseconds, 12_345_678, "12.3 ms"},
		{Nanoseconds, 3_000_000_000, "3.00 s"},
		{Nanoseconds, -1500, "−1.50 µs"},
		{PerSecond, 0.5, "0.500/s"},
		{PerSecond, 40, "40/s"},
		{PerSecond, 999, "999/s"},
		{PerSecond, 1000, "1k/s"},
		{PerSecond, 12_345, "12.3k/s"},
		{PerSecond, 1_234_567, "1.23M/s"},
		{Bytes, 100, "100 B"},
		{Bytes, 1024, "1 KiB"},
		{Bytes, 1 << 30, "1 GiB"},
		{Bytes, 1_500_000, "1.43 MiB"},
		{CPUSeconds, 0.5612, "0.561 s"},
		{CPUSeconds, 0.000001, "1e-06 s"},
		{Share, 0.123, "12.3 %"},
		{Factor, 2, "2.00×"},
		{Count, 1234, "1234"},
		{Count, 1_234_567, "1 234 567"},
		{Count, -12_345, "−12 345"},
	} {
		if got := c.unit.Format(c.v); got != c.want {
			t.Errorf("unit %d: %v is written %q, want %q", c.unit, c.v, got, c.want)
		}
	}
}

func TestARangeNamesItsUnitOnceWhereItCan(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{math.Inf(-1), math.Inf(1), "unknown"},
		{5000, math.Inf(1), "≥ 5k/s"},
		{math.Inf(-1), 5000, "≤ 5k/s"},
		{5000, 6000, "5–6k/s"},
		{900, 1100, "900/s–1.10k/s"},
	} {
		if got := PerSecond.Range(c.low, c.high); got != c.want {
			t.Errorf("%v..%v is written %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

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

func TestFootnotesThatDifferInFiguresAreOne(t *testing.T) {
	var f Footnotes
	for i, text := range []string{"3 ms late", "4 ms late", "3 ms late", "other", "5.5 ms late", "6 ms late", "7 ms late"} {
		if want := map[bool]int{true: 2, false: 1}[text == "other"]; f.Mark("kafka", text) != want {
			t.Errorf("text %d (%s) isn't note %d", i, text, want)
		}
	}
	if f.Mark("nats", "3 ms late") != 3 {
		t.Error("another broker's note was shared")
	}
	note := f.Blocks()[0].(Note)
	if want := "3 ms late; 4 ms late; 5.5 ms late; and 2 more like these"; note.Text != want {
		t.Errorf("got %q, want %q", note.Text, want)
	}
}

func TestAnUnknownFormatOrReportIsAnsweredWithWhatThereIs(t *testing.T) {
	if err := Render(nil, Document{}, "pdf", Options{}); err == nil || !strings.Contains(err.Error(), "csv, jsonl, markdown, terminal") {
		t.Error(err)
	}
	if _, err := Lookup("nonsense"); err == nil || !strings.Contains(err.Error(), `unknown report "nonsense"`) {
		t.Error(err)
	}
	if _, err := MetricByKey("nonsense"); err == nil || !strings.Contains(err.Error(), "e2e_p99_ns") {
		t.Error(err)
	}
}

func TestColourIsOnlyAddedWhenAsked(t *testing.T) {
	d := Document{Title: "T", Blocks: []Block{Table{
		Columns: []Column{{Key: "status", Name: "status"}},
		Rows:    [][]Cell{{Text("failed")}, {Text("void")}, {Text("ok")}},
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

func TestNamesAreInTheOrderOfTheirNumbers(t *testing.T) {
	want := []string{"", "kafka", "kafka size=", "kafka size=1", "kafka size=01KiB x=2", "kafka size=1KiB x=10", "kafka size=2KiB", "kafka size=16KiB", "nats", "nats-2", "nats10"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, CompareNames)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
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
		got := fold(c.text, c.width)
		for strings.Contains(got, " \n") { // padded to the width
			got = strings.ReplaceAll(got, " \n", "\n")
		}
		if got != c.want {
			t.Errorf("%q at %d became %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestSentencesAreNarrowedBeforeATableIsSplit(t *testing.T) {
	var d Document
	d.Add(Table{
		Columns: []Column{{Key: "a", Name: "a", Row: true}, {Key: "b", Name: "b"}, {Key: "why", Name: "why", Wide: true}},
		Rows:    [][]Cell{{Text("first"), Text("second"), Text("a sentence that would take all of the line and more than that")}},
	})
	var out strings.Builder
	if err := renderTerminal(&out, d, Options{Width: 50}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "first"); n != 1 {
		t.Errorf("the row was split into %d:\n%s", n, out.String())
	}
}
