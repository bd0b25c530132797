package study

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestFieldsDocumentEverySettingOnceInTheOrderOfSpec(t *testing.T) {
	var want []string
	var walk func(prefix string)
	walk = func(prefix string) {
		for _, name := range layout().groups[prefix] {
			path := join(prefix, name)
			if _, group := layout().groups[path]; group {
				walk(path)
				continue
			}
			want = append(want, path)
		}
	}
	walk("")
	var got []string
	for _, f := range Fields() {
		got = append(got, f.Path)
		if f.Doc == "" || f.Type == "" || f.Default == "" {
			t.Errorf("%s lacks a doc, type or default: %+v", f.Path, f)
		}
		if strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s: the doc is a clause, not a sentence: %q", f.Path, f.Doc)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	fields := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Spec]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !computed[name] {
			fields++
		}
	}
	if top := len(layout().groups[""]); top != fields {
		t.Errorf("%d of %d fields of Spec can be set", top, fields)
	}
}

func TestOtherNamesLeadToRealSettings(t *testing.T) {
	for _, o := range others {
		if _, leaf := aboutOf[o.path]; o.path != "" && !leaf {
			t.Errorf("%s leads to %q", o.name, o.path)
		}
	}
	for path := range usedBy {
		if !known(path) {
			t.Errorf("%q is no setting", path)
		}
	}
}

func TestSizesAreExact(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "100": 100, "1k": 1000, "1kB": 1000, "1KB": 1000, "1KiB": 1024, "1 KiB": 1024, "1.5KiB": 1536, "1MB": 1e6, "1MiB": 1 << 20,
		"1GB": 1e9, "64GiB": 64 << 30, "1048000": 1048000, "-5": -5, "-1kB": -1000,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
		if back, err := ParseSize(want.String()); err != nil || back != want {
			t.Errorf("%d is written %q, which reads %d, %v", want, want.String(), back, err)
		}
	}
	for _, text := range []string{"", "-", "k", "1,000", "1 mile", "--5", "1e400", "NaN", "+"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
	sizes := Sizes{{100, 3}, {1000, 1}}
	if sizes.Mean() != 325 || sizes.Smallest() != 100 || sizes.Largest() != 1000 || sizes.String() != "100:3,1kB:1" {
		t.Errorf("got %v, %v, %v, %v", sizes.Mean(), sizes.Smallest(), sizes.Largest(), sizes)
	}
	if none := (Sizes{}); none.Mean() != 0 || none.Smallest() != 0 || none.Largest() != 0 {
		t.Error("sizes out of nothing")
	}
}

func TestJSONFormsReadBack(t *testing.T) {
	type all struct {
		D Duration
		S Size
		L Sizes
		C Consumers
	}
	for in, want := range map[string]string{
		`{"D":"90s","S":"1KiB","L":"1kB","C":3}`:                                   `{"D":"1m30s","S":1024,"L":1000,"C":3}`,
		`{"D":"60m","S":5,"L":[{"size":"1KiB","weight":2}],"C":"3+2"}`:             `{"D":"1h","S":5,"L":1024,"C":"3+2"}`,
		`{"D":"0s","S":0,"L":[{"size":1,"weight":2},{"size":2,"weight":1}],"C":0}`: `{"D":"0s","S":0,"L":[{"size":1,"weight":2},{"size":2,"weight":1}],"C":0}`,
	} {
		var v all
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", in, got, err)
		}
	}
	for _, bad := range []string{`{"D":5}`, `{"D":"5"}`, `{"S":"x"}`, `{"S":{}}`, `{"L":"x"}`, `{"L":[5]}`, `{"C":"3+x"}`, `{"C":[3,2]}`} {
		if err := json.Unmarshal([]byte(bad), &all{}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range append(files, "testdata/grid.yaml") {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, doc := range []string{
		"a: &a [*a]", "x: &x {<<: *x}", "? [a]\n: b", "base: &b {load: *b}", "axes: {topics: {from: 1, to: .inf, step: 1}}", "faults: [{}]",
		"axes: {g: [{name: a, set: {}}]}", "exclude: [{g: [a, [b]]}]", "attach: []", "warmup: {}", "server: {'': 1}", "size: [{}]", "!!binary x: 1", "load.burst: {}",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("f.yaml", data)
		var es *Errors
		if err != nil {
			if !errors.As(err, &es) || len(es.Problems) == 0 {
				t.Fatalf("%v is no *Errors", err)
			}
			return
		}
		s.base = slices.DeleteFunc(s.base, func(g setting) bool { return g.path == "payloadFile" }) // reads files
		if size := len(s.sweeps); size > 10 {
			return
		}
		for _, w := range s.sweeps {
			if n := len(w.axes); n > 0 && n*len(w.axes[0].values) > 200 {
				return
			}
		}
		points, err := s.Points()
		if err != nil && !errors.As(err, &es) {
			t.Fatalf("%v is no *Errors", err)
		}
		for _, p := range points {
			if len(p.ID) != 16 || p.Label == "" || EstimateSeconds(p.Spec) <= 0 {
				t.Fatalf("%+v", p)
			}
		}
	})
}

func TestTextsThatSayTheSameValueOfASettingAreTheSame(t *testing.T) {
	for _, c := range []struct {
		path, a, b string
		want       bool
	}{
		{"duration", "2s", "2000ms", true},
		{"duration", "2s", "3s", false},
		{"duration", "2s", "2", false},
		{"load.rate", "1000", "1k", true},
		{"load.rate", "1000", "1k/s", true},
		{"load.rate", "1000", "1e3", true},
		{"rate", "1000", "1k", true},
		{"messageSize", "1KiB", "1024", true},
		{"size", "1KiB", "1024", true},
		{"messageSize", "1KiB", "1kB", false},
		{"messageSize", "100:1,1KiB:1", "100:1,1KiB:1", true},
		{"inFlight.bytes", "16777216", "16MiB", true},
		{"topics", "1", "1.0", true},
		{"topics", "1", "x", false},
		{"tls", "off", "off", true},
		{"useRandomizedPayloads", "true", "yes", true},
		{"client.linger.ms", "5", "5.0", false},
		{"version", "2.1", "2.10", false},
		{"nothing", "1", "1.0", false},
		{"broker", "kafka", "Kafka", false},
	} {
		if got := Same(c.path, c.a, c.b); got != c.want {
			t.Errorf("%s: %q and %q: %v", c.path, c.a, c.b, got)
		}
	}
}
