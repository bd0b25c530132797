package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run with -update and look at the difference. Got:\n%s", path, got)
	}
}

func rendered(t *testing.T, d document.Document, format string, width int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := render.Render(&out, d, format, render.Options{Width: width}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func build(t *testing.T, name string, records []store.Record) document.Document {
	t.Helper()
	r, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Build(results.Of(records))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

func TestReportsLookAsTheyDid(t *testing.T) {
	for _, c := range []struct{ report, format, file string }{
		{"summary", "terminal", "summary.txt"},
		{"summary", "markdown", "summary.md"},
		{"summary", "csv", "summary.csv"},
		{"headtohead", "terminal", "headtohead.txt"},
		{"headtohead", "markdown", "headtohead.md"},
		{"headtohead", "csv", "headtohead.csv"},
		{"headtohead", "jsonl", "headtohead.jsonl"},
		{"trials", "terminal", "trials.txt"},
		{"ledger", "terminal", "ledger.txt"},
		{"points", "terminal", "points.txt"},
	} {
		records := demo(2)
		if c.report == "points" || c.report == "trials" {
			records = records[:5] // the rest is more of the same
		}
		golden(t, c.file, rendered(t, build(t, c.report, records), c.format, 100))
	}
}

func TestAComparisonLooksAsItDid(t *testing.T) {
	for file, repeats := range map[string]int{"compare.txt": 7, "compare-once.txt": 1} {
		records := demo(repeats)
		kafka, err := store.Collect(results.Select(t.Context(), storetest.Records(records), "broker=kafka,size=100"))
		if err != nil {
			t.Fatal(err)
		}
		jetstream, err := store.Collect(results.Select(t.Context(), storetest.Records(records), "broker=jetstream,size=100"))
		if err != nil {
			t.Fatal(err)
		}
		d := Compare(Side{"kafka", results.Of(kafka)}, Side{"jetstream", results.Of(jetstream)}, "broker", "size")
		golden(t, file, rendered(t, d, "terminal", 100))
	}
}

func TestNothingIsWiderThanThePage(t *testing.T) {
	for _, name := range Names() {
		if name == "points" {
			continue // a listing stays as it is
		}
		for _, width := range []int{80, 100, 120} {
			for line := range strings.Lines(string(rendered(t, build(t, name, demo(2)), "terminal", width))) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%s at %d columns has a line of %d: %s", name, width, n, line)
				}
			}
		}
	}
}

func TestEveryReportSaysSomethingAboutLittle(t *testing.T) {
	once := demo(1)
	for _, c := range []struct {
		name    string
		records []store.Record
		says    string
	}{
		{"an empty store", nil, "holds no record yet"},
		{"only void points", with(once, store.Void), "no conclusion"},
		{"only refused points", with(once, store.Refused), "no conclusion"},
		{"only an aborted point", with(once, store.Aborted)[:1], "no conclusion"},
		{"one point", once[:1], "nothing to compare"},
		{"a result without anything", []store.Record{{PointID: "p", Status: store.OK, Result: &store.Result{}}}, "single point"},
	} {
		for _, name := range Names() {
			for _, format := range render.Formats() {
				out := string(rendered(t, build(t, name, c.records), format, 100))
				if strings.TrimSpace(out) == "" {
					t.Errorf("%s over %s as %s is empty", name, c.name, format)
				}
				if name == Default && format == "terminal" && !strings.Contains(strings.ReplaceAll(out, "\n", " "), c.says) {
					t.Errorf("%s over %s doesn't say %q:\n%s", name, c.name, c.says, out)
				}
			}
		}
	}
}

func with(records []store.Record, status store.Status) []store.Record {
	var out []store.Record
	for _, r := range records {
		if r.Status == status {
			out = append(out, r)
		}
	}
	return out
}

func TestAVoidRecordEntersNoConclusion(t *testing.T) {
	records := demo(2)
	for i := range records {
		if records[i].Spec.Broker == "nats" && records[i].Status == store.OK {
			records[i].Status, records[i].Reason = store.Void, "the generator's CPU was saturated"
		}
	}
	for _, name := range []string{"summary", "headtohead"} {
		out := string(rendered(t, build(t, name, records), "markdown", 0))
		for line := range strings.Lines(out) {
			if strings.Contains(line, "Highest sustainable") && strings.Contains(line, "nats 1.") {
				t.Errorf("%s ranks a void point: %s", name, line)
			}
		}
		if !strings.Contains(out, "nats at sustainable (void)") {
			t.Errorf("%s doesn't say that nats was left out:\n%s", name, out)
		}
	}
}

func TestHostileNamesStayText(t *testing.T) {
	records := demo(1)[:4]
	const hostile = "\x1b[31m=cmd|'/c calc'!A1 <script>alert(1)</script>\r\n| a | `b` **c** \u202egnp.exe"
	for i := range records {
		records[i].Spec.Broker, records[i].Label, records[i].Reason, records[i].Status = hostile, hostile, hostile, store.Failed
		records[i].Doubts = []store.Doubt{{Code: hostile, Text: hostile}}
		records[i].Axes = map[string]string{hostile: hostile + string(rune('a'+i))}
	}
	for _, name := range Names() {
		d := build(t, name, records)
		for _, format := range render.Formats() {
			out := string(rendered(t, d, format, 100))
			if strings.ContainsAny(out, "\x1b\r\u202e") {
				t.Errorf("%s as %s lets control characters through", name, format)
			}
			if format == "markdown" && name != "points" && (strings.Contains(out, "<script") || strings.Contains(out, " | a |")) {
				t.Errorf("%s as markdown lets markup through:\n%s", name, out)
			}
			if format == "csv" {
				checkCSV(t, name, out)
			}
		}
	}
}

func checkCSV(t *testing.T, name, out string) {
	t.Helper()
	reader := csv.NewReader(strings.NewReader(out))
	reader.FieldsPerRecord = -1 // tables of different shape
	rows, err := reader.ReadAll()
	if err != nil {
		t.Error(err)
	}
	for _, row := range rows {
		for _, field := range row {
			if strings.HasPrefix(field, "=") || strings.HasPrefix(field, "@") {
				t.Errorf("%s as CSV holds a formula: %q", name, field)
			}
		}
	}
}

func TestEveryLineOfJSONLinesIsAnObject(t *testing.T) {
	for _, name := range Names() {
		for line := range bytes.Lines(rendered(t, build(t, name, demo(1)), "jsonl", 0)) {
			var object map[string]any
			if err := json.Unmarshal(line, &object); err != nil {
				t.Fatalf("%s: %v in %s", name, err, line)
			}
		}
	}
}

func TestPoolingDifferentHostsIsWarnedAbout(t *testing.T) {
	records := demo(2)
	for i := range records {
		if records[i].Spec.Broker == "kafka" && records[i].Repetition == 2 {
			records[i].Host.Cores = 8
		}
	}
	for _, name := range []string{"summary", "headtohead"} {
		out := string(rendered(t, build(t, name, records), "markdown", 0))
		if !strings.Contains(out, "Warning: these records differ") || !strings.Contains(out, "host.cores: 2, 8") {
			t.Errorf("%s doesn't warn", name)
		}
	}
	if out := rendered(t, build(t, "summary", demo(2)), "markdown", 0); bytes.Contains(out, []byte("Warning")) {
		t.Errorf("a warning without a reason:\n%s", out)
	}
}

func TestTenThousandRecordsMakeAReport(t *testing.T) {
	once := demo(1)
	var records []store.Record
	for i := range 10_000 {
		r := once[i%len(once)]
		r.Repetition = 1 + i/len(once)
		r.PointID += string(rune('a' + i/len(once)%20))
		records = append(records, r)
	}
	for _, name := range []string{"summary", "headtohead"} {
		start := time.Now()
		if out := rendered(t, build(t, name, records), "terminal", 100); len(out) == 0 {
			t.Error("nothing")
		}
		t.Logf("%s of %d records in %v", name, len(records), time.Since(start))
	}
}
