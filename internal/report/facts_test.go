package report

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestFactsAreEverythingThatCouldDiffer(t *testing.T) {
	r := measured()
	r.Axes = map[string]string{"broker": "kafka", "sweep": "3"}
	r.Spec.Attach, r.Spec.Name, r.Spec.Label, r.Spec.CAFile = []string{"a:1", "b:2"}, "n", "l", "ca"
	r.Settings = store.Settings{Client: map[string]any{"window": 7, "deep": map[string]any{"er": true}}}
	r.Host = store.Host{Name: "h", Cores: 2, MemoryBytes: 5}
	facts := Facts(r)
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
	if _, ok := Facts(r)["host.cores"]; ok {
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
		if got := covering([]string{c.named})(c.path); got != c.covered {
			t.Errorf("%s covers %s: %v", c.named, c.path, got)
		}
	}
}

func TestEqualWorkIsEqualWhateverItsNameAndTheNamedDifference(t *testing.T) {
	a, b := measured().Spec, measured().Spec
	b.Name, b.Label, b.KeyFile = "other", "other", "key.pem"
	if Workload(a) != Workload(b) {
		t.Error("what is for people makes a difference")
	}
	b.Broker, b.Client = "nats", nil
	if Workload(a) == Workload(b) || Workload(a, "broker") != Workload(b, "broker") {
		t.Error("the broker makes a difference only where it isn't named")
	}
	b.Persistence = "fsync"
	if Workload(a, "broker") == Workload(b, "broker") || Workload(a, "broker", "persistence") != Workload(b, "broker", "persistence") {
		t.Error("persistence makes a difference only where it isn't named")
	}
	lines := strings.Split(Workload(a), "\n")
	if !slices.IsSorted(lines) || !slices.Contains(lines, "broker=kafka") {
		t.Errorf("%q", lines)
	}
}

func TestAWarningQuotesSixDifferences(t *testing.T) {
	var residue []string
	for i := range 8 {
		residue = append(residue, fmt.Sprint("d", i))
		want := strings.Join(residue[:min(6, len(residue))], "; ")
		if more := len(residue) - 6; more > 0 {
			want += fmt.Sprintf("; and %d more", more)
		}
		if got := (Warning{"these", residue}).Text(); got != "Warning: these differ in what was not named as the difference: "+want+"." {
			t.Errorf("of %d: %q", len(residue), got)
		}
	}
	if got := Residue([]store.Record{measured()}); got != nil {
		t.Errorf("a single record differs from nothing: %q", got)
	}
}

func TestASelectionQuotesTwelveValues(t *testing.T) {
	var records []store.Record
	for i := range 20 {
		r := measured()
		r.Label = fmt.Sprintf("label-%02d", i)
		records = append(records, r)
	}
	_, err := Select(records, "label=none")
	if err == nil || strings.Count(err.Error(), "label-") != 12 || !strings.HasSuffix(err.Error(), "label-11") {
		t.Error(err)
	}
	if _, err := Select(records, "point="); err == nil {
		t.Error("the beginning of nothing selects a point")
	}
	if got := Named("a=1, b"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("named are %q", got)
	}
	if got, err := Select(records, "status=ok,label=label-03"); err != nil || len(got) != 1 {
		t.Errorf("%d, %v", len(got), err)
	}
}

func TestFlatteningForgetsBeforeItGrowsWithoutBound(t *testing.T) {
	f := flattened{known: map[string]map[string]string{}}
	for i := range mostFlat + 3 {
		facts := f.of("p", []byte(`{"a":`+strconv.Itoa(i)+`}`))
		if facts["p.a"] != strconv.Itoa(i) {
			t.Fatalf("%d is %v", i, facts)
		}
		if len(f.known) > mostFlat {
			t.Fatalf("%d are remembered", len(f.known))
		}
	}
	if n := len(f.known); n > mostFlat || n < 1 {
		t.Errorf("%d are remembered", n)
	}
	before := len(f.known)
	if again := f.of("p", []byte(`{"a":1}`)); again["p.a"] != "1" || len(f.known) != before+1 {
		t.Errorf("%v, %d remembered", again, len(f.known))
	}
	if broken := f.of("p", []byte("{")); broken["p"] == "" {
		t.Errorf("what isn't JSON is %v", broken)
	}
}

// A number is read back within half of its third digit, whatever its size and unit.
func TestThreeDigitsAreReadBackCloseEnough(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	factors := map[Unit]map[string]float64{
		Nanoseconds: {" ns": 1, " µs": 1e3, " ms": 1e6, " s": 1e9},
		PerSecond:   {"/s": 1, "k/s": 1e3, "M/s": 1e6, "G/s": 1e9},
		Bytes:       {" B": 1, " KiB": 1 << 10, " MiB": 1 << 20, " GiB": 1 << 30, " TiB": 1 << 40},
		Seconds:     {" s": 1}, CPUSeconds: {" s": 1}, Share: {" %": 0.01}, Factor: {"×": 1}, None: {"": 1},
	}
	isDigit := func(r rune) bool { return strings.ContainsRune("0123456789.e-", r) }
	for unit, suffixes := range factors {
		for range 3000 {
			v := math.Pow(10, random.Float64()*16-3)
			if random.IntN(4) == 0 {
				v = math.Trunc(v)
			}
			text := unit.Format(v)
			suffix := strings.TrimLeftFunc(text, isDigit)
			factor, ok := suffixes[suffix]
			number, err := strconv.ParseFloat(strings.TrimSuffix(text, suffix), 64)
			if !ok || err != nil || math.Abs(number*factor-v) > 0.0051*v {
				t.Fatalf("unit %d: %v is written %q", unit, v, text)
			}
			digits := strings.Trim(strings.ReplaceAll(strings.TrimSuffix(text, suffix), ".", ""), "0")
			if len(digits) > 3 && number < 1000 && !strings.Contains(text, "e") {
				t.Fatalf("unit %d: %v is written %q, with %d digits", unit, v, text, len(digits))
			}
			// A larger unit is taken as soon as it makes one of it.
			for other, f := range suffixes {
				if f > factor && v >= f || number >= 1100 && f > factor {
					t.Fatalf("unit %d: %v is written %q instead of in%s", unit, v, text, other)
				}
			}
			if negative := unit.Format(-v); v != 0 && negative != "−"+text {
				t.Fatalf("−%v is written %q", v, negative)
			}
		}
	}
	for range 1000 {
		v := math.Trunc(random.Float64() * math.Pow(10, random.Float64()*12))
		text := Count.Format(v)
		if got, err := strconv.ParseFloat(strings.ReplaceAll(text, "\u202f", ""), 64); err != nil && !strings.Contains(text, " ") || err == nil && got != v {
			t.Fatalf("%v is counted as %q", v, text)
		}
		groups := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if strings.Join(groups, "") != strconv.FormatFloat(v, 'f', 0, 64) {
			t.Fatalf("%v is counted as %q", v, text)
		}
		for i, g := range groups {
			if len(groups) > 1 && (len(g) > 3 || i > 0 && len(g) != 3) || len(groups) == 1 && len(g) > 4 {
				t.Fatalf("%v is grouped as %q", v, text)
			}
		}
	}
}

func TestNotesOfARowComeOnceAndInOrder(t *testing.T) {
	row := []Cell{Text("a").Marked(2), Text("b"), Text("c").Marked(1, 2)}
	if got := RowNotes(row, map[int]string{1: "one", 2: "two"}); !slices.Equal(got, []string{"two", "one"}) {
		t.Errorf("%q", got)
	}
	marked := Text("a").Marked(1)
	one, two := marked.Marked(2), marked.Marked(3)
	if !slices.Equal(one.Marks, []int{1, 2}) || !slices.Equal(two.Marks, []int{1, 3}) || !slices.Equal(marked.Marks, []int{1}) {
		t.Errorf("cells share their marks: %v %v %v", marked.Marks, one.Marks, two.Marks)
	}
	d := Document{Blocks: []Block{Note{1, "one"}, Paragraph{"p"}, Note{2, "two"}, Table{Title: "t"}}}
	if notes := d.Notes(); !maps.Equal(notes, map[int]string{1: "one", 2: "two"}) || len(d.Tables()) != 1 {
		t.Errorf("notes %v", notes)
	}
}

func TestNotesQuoteThreeSentencesOfAKind(t *testing.T) {
	var f Footnotes
	for i := range 5 {
		f.Mark("x", fmt.Sprintf("%d late", i))
		want := []string{"0 late", "0 late; 1 late", "0 late; 1 late; 2 late", "0 late; 1 late; 2 late; and 1 more like these", "0 late; 1 late; 2 late; and 2 more like these"}[i]
		if blocks := f.Blocks(); len(blocks) != 1 || blocks[0] != (Note{1, want}) {
			t.Errorf("after %d: %v, want %q", i+1, blocks, want)
		}
	}
}

func TestCellsOfNothingAreBlank(t *testing.T) {
	for name, cell := range map[string]Cell{"no text": Text(""), "not a number": Number(math.NaN()), "no values": Summarize(nil).Cell()} {
		if cell.Kind != Blank {
			t.Errorf("%s: %+v", name, cell)
		}
	}
	if cell := Summarize([]float64{4}).Cell(); cell.Kind != Figure || cell.Number != 4 {
		t.Errorf("one value: %+v", cell)
	}
	if cell := Summarize([]float64{4, 8}).Cell(); cell.Kind != Interval || cell.Number != 6 || cell.Low != 4 || cell.High != 8 {
		t.Errorf("two values: %+v", cell)
	}
	if cell := Number(0); cell.Kind != Figure {
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
	if s := metric("lost").Over(records); s != (Summary{N: 3, Median: 5000, Low: 5000, High: 5000}) {
		t.Errorf("lost %+v", s)
	}
	if s := metric("publish_rate").Over(records); s.Median != 0 || s.High != 5000 || s.N != 3 {
		t.Errorf("published %+v", s)
	}
	if s := metric("lost").Over(nil); s.N != 0 || !math.IsNaN(s.Median) {
		t.Errorf("nothing lost of nothing: %+v", s)
	}
}

func TestSixOfManyAreNamed(t *testing.T) {
	var items []string
	for i := range 12 {
		items = append(items, fmt.Sprint(i))
		got := Abridged(items)
		switch {
		case len(items) <= 6 && !slices.Equal(got, items):
			t.Errorf("of %d: %q", len(items), got)
		case len(items) > 6 && (len(got) != 6 || got[3] != "3" || got[4] != fmt.Sprintf("%d more", len(items)-5) || got[5] != items[i]):
			t.Errorf("of %d: %q", len(items), got)
		}
	}
	for want, items := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := enumerate(items); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
