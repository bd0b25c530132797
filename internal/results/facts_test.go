package results

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestFactsAreEverythingThatCouldDiffer(t *testing.T) {
	r := measured()
	r.Axes = map[string]string{"broker": "kafka", "sweep": "3"}
	r.Spec.Attach, r.Spec.Name, r.Spec.Label, r.Spec.CAFile = []string{"a:1", "b:2"}, "n", "l", "ca"
	r.Settings = store.Settings{Client: map[string]any{"window": 7, "deep": map[string]any{"er": true}}}
	r.Host = store.Host{Name: "h", Cores: 2, MemoryBytes: 5}
	facts := new(factCache).ofRecord(r)
	for path, want := range map[string]string{
		"broker": "kafka", "sweep": "3", "attach": `["a:1","b:2"]`, "client.linger.ms": "5", "settings.client.window": "7", "settings.client.deep.er": "true",
		"versions.broker": "4.3.1", "host.name": "h", "host.cores": "2", "messageSize": "1KiB",
	} {
		if facts[path] != want {
			t.Errorf("%s is %q, want %q", path, facts[path], want)
		}
	}
	for _, path := range []string{"name", "label", "caFile", "host.memory_bytes", "host.os", "version"} {
		if v, ok := facts[path]; ok {
			t.Errorf("%s is a fact: %q", path, v)
		}
	}
	r.Host.Cores = 0
	if _, ok := new(factCache).ofRecord(r)["host.cores"]; ok {
		t.Error("cores that aren't known are a fact")
	}
}

func TestWhatFollowsFromWhatIsNamedIsCovered(t *testing.T) {
	for _, c := range []struct {
		named, path string
		covered     bool
	}{
		{"broker", "broker", true},
		{"broker", "versions.client", true},
		{"broker", "settings.server.x", true},
		{"broker", "brokers", false},
		{"broker", "host.cores", false},
		{"client.linger.ms", "settings.client.linger.ms", true},
		{"client.linger.ms", "settings.client.linger", false},
		{"topicConfig.retention", "settings.topic.retention", true},
		{"server.x", "settings.server.x", true},
		{"persistence", "settings.persistence", false},
		{"measure", "load.rate", true},
		{"size", "messageSize", true},
		{"fault", "faults", true},
		{"tls", "versions.tls", true},
		{"version", "settings.client.a", true},
	} {
		if got := isAtOrBelow(c.path, withImplied([]string{c.named})); got != c.covered {
			t.Errorf("%s covers %s: %v", c.named, c.path, got)
		}
	}
}

func TestEqualWorkIsEqualWhateverItsNameAndTheNamedDifference(t *testing.T) {
	a, b := measured().Spec, measured().Spec
	b.Name, b.Label, b.KeyFile = "other", "other", "key.pem"
	if workload(a) != workload(b) {
		t.Error("what is for people makes a difference")
	}
	b.Objectives = study.Objectives{"e2e_p99": "< 20ms"}
	if workload(a) != workload(b) {
		t.Error("what a point should reach makes a difference")
	}
	b.Broker, b.Client = "nats", nil
	if workload(a) == workload(b) || workload(a, "broker") != workload(b, "broker") {
		t.Error("the broker makes a difference only where it isn't named")
	}
	b.Persistence = "fsync"
	if workload(a, "broker") == workload(b, "broker") || workload(a, "broker", "persistence") != workload(b, "broker", "persistence") {
		t.Error("persistence makes a difference only where it isn't named")
	}
	lines := strings.Split(workload(a), "\n")
	if !slices.IsSorted(lines) || !slices.Contains(lines, "broker=kafka") {
		t.Errorf("%q", lines)
	}
}

func TestAPayloadIsKnownByItsDigestWhereverItsFileIs(t *testing.T) {
	a := measured()
	a.Spec.PayloadFile, a.Spec.PayloadColumn, a.Spec.PayloadDigest = "/home/a/rides.csv", "body", "sha256:1"
	b := a
	b.Spec.PayloadFile = "rides.csv"
	if workload(a.Spec) != workload(b.Spec) || len(Residue([]store.Record{a, b})) != 0 {
		t.Errorf("one payload in two files differs: %q", Residue([]store.Record{a, b}))
	}
	b.Spec.PayloadDigest = "sha256:2"
	if workload(a.Spec) == workload(b.Spec) {
		t.Error("two payloads are the same work")
	}
	a.Spec.PayloadDigest, b.Spec.PayloadDigest = "", ""
	if workload(a.Spec) == workload(b.Spec) {
		t.Error("files whose contents aren't known are the same work")
	}
}

func TestASelectionQuotesTwelveValuesAndCountsTheOthers(t *testing.T) {
	var records []store.Record
	for i := range 20 {
		r := measured()
		r.Label = fmt.Sprintf("label-%02d", i)
		records = append(records, r)
	}
	_, err := selected(t, records, "label=none")
	if err == nil || strings.Count(err.Error(), "label-") != 12 || !strings.HasSuffix(err.Error(), "label-11 and 8 more") {
		t.Error(err)
	}
	if _, err := selected(t, records, "point="); err == nil {
		t.Error("the beginning of nothing selects a point")
	}
	if got := SelectionNames("a=1, b"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("named are %q", got)
	}
	if got, err := selected(t, records, "status=ok,label=label-03"); err != nil || len(got) != 1 {
		t.Errorf("%d, %v", len(got), err)
	}
}

func TestAPointIsSelectedByItsKeyInExportsToo(t *testing.T) {
	a, b := measured(), measured()
	a.PointID, b.PointID = "0123456789abcdef", "fedcba9876543210"
	for _, expr := range []string{"point=0123", "point_id=0123456789abcdef", "point_id=01"} {
		if got, err := selected(t, []store.Record{a, b}, expr); err != nil || len(got) != 1 || got[0].PointID != a.PointID {
			t.Errorf("%s: %d records, %v", expr, len(got), err)
		}
	}
}

func TestAnUnknownNameInASelectionHasAHintOnlyWhereOneIsNear(t *testing.T) {
	const none, names = `no record has anything called `, "; there are study, label, status, repetition, point, began, and settings, such as broker or load.rate"
	for expr, want := range map[string]string{
		"foo=1":             none + `"foo"` + names,
		"id=1":              none + `"id"` + names,
		"brokr=x":           none + `"brokr"; did you mean "broker"?`,
		"status=ok,x1234=1": `no record with status=ok has anything called "x1234"` + names,
	} {
		if _, err := selected(t, []store.Record{measured()}, expr); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v; want %s", expr, err, want)
		}
	}
}

func TestFlatteningForgetsBeforeItGrowsWithoutBound(t *testing.T) {
	var f factCache
	for i := range maxCached + 3 {
		facts := f.flatten("p", map[string]int{"a": i})
		if facts["p.a"] != strconv.Itoa(i) {
			t.Fatalf("%d is %v", i, facts)
		}
		if len(f.known) > maxCached {
			t.Fatalf("%d are remembered", len(f.known))
		}
	}
	if n := len(f.known); n > maxCached || n < 1 {
		t.Errorf("%d are remembered", n)
	}
	before := len(f.known)
	if again := f.flatten("p", map[string]int{"a": 1}); again["p.a"] != "1" || len(f.known) != before+1 {
		t.Errorf("%v, %d remembered", again, len(f.known))
	}
}

func TestCellsOfNothingAreBlank(t *testing.T) {
	for name, cell := range map[string]document.Cell{"no text": document.Text(""), "not a number": document.Number(math.NaN()), "no values": Summarize(nil).Cell()} {
		if cell.Kind != document.Blank {
			t.Errorf("%s: %+v", name, cell)
		}
	}
	if cell := Summarize([]float64{4}).Cell(); cell.Kind != document.Figure || cell.Number != 4 {
		t.Errorf("one value: %+v", cell)
	}
	s := Summarize([]float64{4})
	s.ClockBound = 1
	if cell := s.Cell(); cell.Kind != document.Interval || cell.Number != 4 || cell.Low != 3 || cell.High != 5 || !cell.Bounded {
		t.Errorf("a value of 4 that may be off by 1: %+v", cell)
	}
	if cell := Summarize([]float64{4, 8}).Cell(); cell.Kind != document.Interval || cell.Number != 6 || cell.Low != 4 || cell.High != 8 {
		t.Errorf("two values: %+v", cell)
	}
	if cell := document.Number(0); cell.Kind != document.Figure {
		t.Errorf("zero: %+v", cell)
	}
	if s := Summarize(nil); s.N != 0 || !math.IsNaN(s.Median) || !math.IsNaN(s.Low) || !math.IsNaN(s.High) {
		t.Errorf("nothing is summed up as %+v", s)
	}
}

func TestCountsAreSummedAndTheRestIsAMedian(t *testing.T) {
	var records []store.Record
	for _, n := range []int64{0, 5000, 0} {
		records = append(records, store.Record{Spec: study.Spec{Measure: "rate"}, Result: &store.Result{Measurement: store.Measurement{
			Books: store.Books{Sent: 10_000, Lost: n}, PublishRate: float64(n),
		}}})
	}
	if s := MustMetric("lost").Over(records); s != (Summary{N: 3, Median: 5000, Low: 5000, High: 5000, Summed: true}) {
		t.Errorf("lost %+v", s)
	}
	if s := MustMetric("publish_rate").Over(records); s.Median != 0 || s.High != 5000 || s.N != 3 {
		t.Errorf("published %+v", s)
	}
	if s := MustMetric("lost").Over(nil); s.N != 0 || !math.IsNaN(s.Median) {
		t.Errorf("nothing lost of nothing: %+v", s)
	}
}

func TestSixOfManyAreNamed(t *testing.T) {
	var items []string
	for i := range 12 {
		items = append(items, fmt.Sprint(i))
		got := Shorten(items)
		switch {
		case len(items) <= 6 && !slices.Equal(got, items):
			t.Errorf("of %d: %q", len(items), got)
		case len(items) > 6 && (len(got) != 6 || got[3] != "3" || got[4] != fmt.Sprintf("%d more", len(items)-5) || got[5] != items[i]):
			t.Errorf("of %d: %q", len(items), got)
		}
	}
	for want, items := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := Enumerate(items); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A tick has 0 cores if the broker was idle, and also if it was not metered.
func TestTheProcessorTimeOfABrokerThatWasNotMeteredIsAGap(t *testing.T) {
	for _, c := range []struct {
		metered, idle bool
		want          float64
	}{{metered: true, idle: true, want: 0}, {metered: true, want: 0.5}, {metered: false, idle: true, want: math.NaN()}} {
		r := measured()
		tick := store.Tick{Phase: "measure", GeneratorCPU: 1}
		if !c.idle {
			tick.BrokerCPU = 0.5
		}
		r.Result.Cost.BrokerKnown, r.Result.Series = c.metered, []store.Tick{tick}
		for _, p := range CoursePanels(r) {
			for _, l := range p.Lines {
				if got := l.At(Moments(r)[0]); l.Name == "broker CPU" && got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
					t.Errorf("metered %v, idle %v: %g cores, want %g", c.metered, c.idle, got, c.want)
				}
			}
		}
	}
}

// A field that is renamed must not become a fact unnoticed.
func TestThePathsThatAreNotComparedExist(t *testing.T) {
	inSpec := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[study.Spec]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inSpec[name] = true
	}
	for path := range notCompared {
		if !inSpec[path] {
			t.Errorf("no field of a spec is %s", path)
		}
	}
	host := new(factCache).flatten("host", store.Host{MemoryBytes: 1, Cores: 2})
	if host["host.memory_bytes"] != "1" || host["host.cores"] != "2" {
		t.Errorf("the facts of a host are %v", host)
	}
}

// workload is that of a point with the spec.
func workload(s study.Spec, named ...string) string { return Point{Spec: s}.Workload(named...) }
