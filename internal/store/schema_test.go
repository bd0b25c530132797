package store

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/study"
)

// The fixtures are stores as each layout and schema was once written. They stay as they are for ever: a change that
// can't read them any more needs a step in layouts or known.
var writeFixtures = flag.Bool("write-fixtures", false, "write the fixtures of the current layout and schema, when there are none yet")

// fixture fills an empty database with a store of an older time.
func (p place) fixture(t *testing.T, layout, schema int) (url string) {
	t.Helper()
	tables, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("layout-%d.%s.sql", layout, p.name)))
	if err != nil {
		t.Fatal(err)
	}
	url = p.fresh(t)
	p.exec(t, url, string(tables))
	for i, body := range bodies(t, schema) {
		p.exec(t, url, fmt.Sprintf(`INSERT INTO record (point_id, study, repetition, status, began, schema, body)
			VALUES ('p%d', 'old', 1, 'ok', 0, %d, '%s')`, i, schema, strings.ReplaceAll(body, "'", "''")))
	}
	return url
}

// bodies are records of an older schema.
func bodies(t *testing.T, schema int) []string {
	t.Helper()
	lines, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("schema-%d.jsonl", schema)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(lines)), "\n")
}

func TestStoresOfEveryLayoutAndSchemaCanStillBeReadAndAppendedTo(t *testing.T) {
	if *writeFixtures {
		writeAll(t)
	}
	everywhere(t, func(t *testing.T, p place) {
		url := p.fixture(t, 1, 1)
		s, err := Open(url)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		mustAppend(t, s, Record{PointID: "new"})
		records, err := s.Records(t.Context(), Filter{})
		if err != nil || len(records) != 3 {
			t.Fatalf("%d records, %v; want the two old ones and the new one", len(records), err)
		}
		for i, want := range old() {
			got := records[i]
			got.ID = want.ID // given by the database
			if g, w := asJSON(t, got), asJSON(t, want); g != w {
				t.Errorf("record %d reads\n%s\nwant\n%s", i, g, w)
			}
		}
		if q := records[0].Result.Latency.EndToEnd.Quantile(0.5); q < 1_990_000 || q > 2_010_000 {
			t.Errorf("the old histogram's median is %d ns, want 2 ms", q)
		}
	})
}

// next is a form of the future with a step that renames every record.
var next = forms{current: 2, steps: map[int]func(map[string]json.RawMessage) error{
	1: func(fields map[string]json.RawMessage) error {
		if string(fields["status"]) == `"void"` {
			return errors.New("void is not known")
		}
		fields["label"] = json.RawMessage(`"renamed"`)
		return nil
	},
}}

func TestOlderRecordsAreBroughtUpToDateWhenRead(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for what, c := range map[string]struct {
			forms forms
			sql   string
			says  string // "" = both records are read
		}{
			"as they are":                   {known, "", ""},
			"by a step":                     {next, "", ""},
			"a step that can't":             {next, `UPDATE record SET body = '{"status":"void"}' WHERE point_id = 'p1'`, "record 2 can't be read: from schema 1 to 2: void is not known"},
			"a schema without a step":       {next, `UPDATE record SET schema = 0 WHERE point_id = 'p1'`, "record 2 can't be read: its schema is 0, which this version can't read any more"},
			"a record that isn't an object": {next, `UPDATE record SET schema = 1, body = '[]' WHERE point_id = 'p1'`, "record 2 can't be read: json: cannot unmarshal array"},
		} {
			t.Run(what, func(t *testing.T) {
				url := p.fixture(t, 1, 1)
				if c.sql != "" {
					p.exec(t, url, c.sql)
				}
				s, err := OpenReadOnly(url)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				s.forms = c.forms
				records, err := s.Records(t.Context(), Filter{})
				if c.says != "" {
					if ProblemOf(err) != Corrupt || !strings.Contains(err.Error(), c.says) {
						t.Errorf("got %v, want Corrupt saying %q", err, c.says)
					}
					return
				}
				if err != nil || len(records) != 2 || records[0].Schema != c.forms.current || records[0].Repetition != 1 {
					t.Fatalf("%d records %+v, %v", len(records), records, err)
				}
				if renamed := records[0].Label == "renamed"; renamed != (c.forms.current == 2) {
					t.Errorf("label %q under schema %d", records[0].Label, c.forms.current)
				}
			})
		}
	})
}

func TestAnOlderLayoutIsBroughtUpToDateByWhoAppends(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		url := p.fixture(t, 1, 1)
		future := func(a access) error {
			b, name, err := choose(url)
			if err != nil {
				t.Fatal(err)
			}
			b.layouts = append(slices.Clone(b.layouts), []string{`ALTER TABLE record ADD COLUMN runner TEXT`})
			s := &Store{name: name, backend: b, access: a, patience: defaultPatience, forms: known}
			if s.db, err = b.open(a, defaultPatience); err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			return s.prepare(t.Context())
		}
		if err := future(reading); ProblemOf(err) != Older || !strings.Contains(err.Error(), "was written by an older brokermark (layout 1, this one needs 2)") {
			t.Errorf("reading: %v, want Older", err)
		}
		for range 2 { // the second time there is nothing to do
			if err := future(appending); err != nil {
				t.Fatal(err)
			}
		}
		if err := future(reading); err != nil {
			t.Errorf("reading after the upgrade: %v", err)
		}
		p.exec(t, url, `UPDATE record SET runner = 'me'`)
		if _, err := Open(url); ProblemOf(err) != Newer {
			t.Errorf("this version opens the upgraded store with %v, want Newer", err)
		}
	})
}

func asJSON(t *testing.T, r Record) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// old are the records of the fixture: one with results, one refused.
func old() []Record {
	h := hist.New()
	for range 3 {
		h.Record(2_000_000)
	}
	began := time.Date(2026, 11, 20, 10, 0, 0, 5, time.UTC)
	spec := study.Spec{
		Broker: "kafka", Version: "4.3.1", Nodes: 1, Delivery: "at-least-once", Measure: "rate", Duration: study.Duration(10 * time.Second),
		MessageSize: study.Sizes{{Size: 1024, Weight: 1}}, Client: map[string]any{"linger.ms": json.Number("5")},
	}
	return []Record{
		{
			Schema: 1, PointID: "0123456789abcdef", Study: "old", Label: "kafka 1KiB it's", Axes: map[string]string{"broker": "kafka"}, Repetition: 1,
			Status: OK, Doubts: []Doubt{{Code: "old-version", Text: "a doubt"}}, Began: began, Ended: began.Add(time.Minute), Spec: spec,
			Versions: Versions{Broker: "4.3.1", Tool: "0.1"}, Host: Host{Name: "bench", Cores: 2},
			Result: &Result{Measurement: Measurement{Books: Books{Sent: 3, Acked: 3, Expected: 3, Received: 3}, Seconds: 10, Latency: Latency{EndToEnd: h.Snapshot()}}},
		},
		{Schema: 1, PointID: "fedcba9876543210", Study: "old", Label: "nats", Repetition: 1, Status: Refused, Reason: "core NATS keeps nothing", Began: began, Ended: began, Spec: spec},
	}
}

// writeAll writes what is missing among the fixtures of the current versions.
func writeAll(t *testing.T) {
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range old() {
		lines = append(lines, asJSON(t, r))
	}
	writeNew(t, fmt.Sprintf("schema-%d.jsonl", Schema), lines)
	for name, b := range map[string]*backend{"sqlite": sqliteFile(""), "postgres": {dialect: dialect{layouts: layoutsPostgres}}} {
		lines := []string{}
		for _, step := range b.layouts {
			for _, statement := range step {
				lines = append(lines, statement+";")
			}
		}
		lines = append(lines, fmt.Sprintf("INSERT INTO brokermark_store (layout) VALUES (%d);", b.layout()))
		writeNew(t, fmt.Sprintf("layout-%d.%s.sql", b.layout(), name), lines)
	}
}

func writeNew(t *testing.T, name string, lines []string) {
	path := filepath.Join("testdata", name)
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
