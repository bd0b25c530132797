package page_test

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/browsertest"
	"github.com/brokermark/brokermark/internal/page"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/reports"
)

var keep = flag.String("pages", "", "directory to leave pages and pictures in, to be looked at")

// written writes a page to a file and returns its path.
func written(t *testing.T, name string, write func(io.Writer) error) string {
	t.Helper()
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	path := filepath.Join(dir, name+".html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := write(f); err != nil {
		t.Fatal(err)
	}
	return path
}

// summary writes the whole report over records.
func summary(t *testing.T, name string, records []store.Record) string {
	t.Helper()
	return written(t, name, func(w io.Writer) error {
		return page.Summary(w, page.Source{Set: results.Of(records), Command: "brokermark report -o " + name + ".html", Tool: "0.1.0"})
	})
}

func comparison(t *testing.T) string {
	t.Helper()
	sides := map[string][]store.Record{}
	for _, r := range sweep(7) {
		sides[r.Spec.Broker] = append(sides[r.Spec.Broker], r)
	}
	return written(t, "compare", func(w io.Writer) error {
		a, b := reports.Side{Name: "kafka", Set: results.Of(sides["kafka"])}, reports.Side{Name: "jetstream", Set: results.Of(sides["jetstream"])}
		return page.Compare(w, a, b, []string{"broker"}, page.Source{Command: "brokermark compare kafka jetstream -o compare.html"})
	})
}

func TestEveryRecordedSituationMakesASensiblePage(t *testing.T) {
	testkit.Long(t)
	for _, c := range []struct {
		name    string
		records []store.Record
		charts  int
		says    []string
	}{
		{"empty", nil, 0, []string{"The store holds no record yet: nothing was measured."}},
		{"void", voidOnly(), 3, []string{"No conclusion.", "in no conclusion", "Void"}},
		{"refused", only(sweep(1), store.Refused), 0, []string{"Refused", "core NATS keeps no copy of a message"}},
		{"single", sweep(1)[:1], 3, []string{"A single point: there is nothing to compare it with."}},
		{"mixed", sweep(5), 3, []string{"Highest sustainable: nats", "rabbitmq", "Refused", "3 confirmed messages were lost", "two major versions behind", "Guarantee asked for", "Repeat it"}},
		{"settings", linger(6, 5, 3), 2, []string{"client.linger.ms", "client.batch.size"}},
		{"thousands", linger(100, 20, 2), 2, []string{"2000 rows", "The first 50 of 2000 points"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, summary(t, c.name, c.records), desktop)
			scroll(t, b)
			text := browsertest.Eval[string](t, b, `document.body.innerText`)
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("the page doesn't say %q", want)
				}
			}
			if drawn := browsertest.Eval[int](t, b, `document.querySelectorAll(".chart svg").length`); drawn != c.charts {
				t.Errorf("%d charts are drawn, want %d", drawn, c.charts)
			}
			b.Quiet(t)
		})
	}
}

func TestAComparisonIsAPageWithItsFigures(t *testing.T) {
	b := open(t, comparison(t), desktop)
	scroll(t, b)
	for _, want := range []string{"jetstream against kafka", "Verdict", "sustainable: jetstream is 8.5 times lower than kafka, which is worse", "Latency against throughput"} {
		if text := browsertest.Eval[string](t, b, `document.body.innerText`); !strings.Contains(text, want) {
			t.Errorf("the page doesn't say %q", want)
		}
	}
	b.Quiet(t)
}

func TestTwoRunsOfTheSamePointsAreDrawnApart(t *testing.T) {
	var monday, tuesday []store.Record
	for i, r := range linger(2, 2, 3) {
		monday = append(monday, r)
		slower := *r.Result
		slower.Latency = products[1].result(100, 1000+float64(i), 5000, 1).Latency
		r.Result = &slower
		tuesday = append(tuesday, r)
	}
	b := open(t, written(t, "runs", func(w io.Writer) error {
		return page.Compare(w, reports.Side{Name: "monday.db", Set: results.Of(monday)}, reports.Side{Name: "tuesday.db", Set: results.Of(tuesday)}, nil, page.Source{})
	}), desktop)
	scroll(t, b)
	series := browsertest.Eval[[]string](t, b, `[...document.querySelectorAll("#percentiles .legend .series")].map(b => b.dataset.name)`)
	if len(series) != 8 || !strings.Contains(series[0], "side=monday.db") || !strings.Contains(strings.Join(series, " "), "side=tuesday.db") {
		t.Errorf("two runs of four points are drawn as %q", series)
	}
	if text := browsertest.Eval[string](t, b, `document.querySelector("#cost").innerText`); strings.Contains(text, "n=6") || !strings.Contains(text, "n=3") {
		t.Errorf("repetitions of two runs are pooled: %s", text)
	}
	b.Quiet(t)
}

func TestAReportWithoutFiguresIsAPageToo(t *testing.T) {
	b := open(t, written(t, "ledger", func(w io.Writer) error { return reportPage(w, "ledger", page.Source{Set: results.Of(sweep(2))}) }), desktop)
	if n := browsertest.Eval[int](t, b, `document.querySelectorAll("main table").length`); n == 0 {
		t.Error("the page of the ledger holds no table")
	}
	b.Quiet(t)
}

func TestNamesThatAreMarkupStayText(t *testing.T) {
	path := summary(t, "hostile", hostile())
	b := open(t, path, desktop)
	scroll(t, b)
	browsertest.Eval[bool](t, b, `(document.querySelectorAll("details").forEach(d => d.open = true), true)`)
	scroll(t, b)
	if title := browsertest.Eval[string](t, b, `document.title`); title != "Brokermark report" {
		t.Errorf("the title is %q", title)
	}
	if n := browsertest.Eval[int](t, b, `document.querySelectorAll("img, iframe, object, script:not(#data):not(:last-of-type), [onerror]").length`); n != 0 {
		t.Errorf("%d elements came out of data", n)
	}
	if text := browsertest.Eval[string](t, b, `document.body.innerText`); !strings.Contains(text, "</script><script>document.title='owned'</script>") {
		t.Error("the name isn't shown as the text it is")
	}
	b.Quiet(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(strings.ToLower(string(data)), "</script"); n != 2 {
		t.Errorf("%d ends of scripts, want those of the data and the program", n)
	}
}

// TestPictures leaves pictures of everything for people to look at.
func TestPictures(t *testing.T) {
	if *keep == "" {
		testkit.Without(t, "no -pages to leave pictures in")
	}
	screens := map[string]browsertest.Screen{
		"light": desktop, "dark": {Width: 1280, Height: 900, Dark: true}, "phone": {Width: 390, Height: 844}, "phone-dark": {Width: 390, Height: 844, Dark: true},
	}
	for name, path := range map[string]string{
		"mixed": summary(t, "mixed", sweep(5)), "settings": summary(t, "settings", linger(6, 5, 3)), "compare": comparison(t), "void": summary(t, "void", voidOnly()),
	} {
		for suffix, s := range screens {
			b := open(t, path, s)
			scroll(t, b)
			shoot(t, b, name+"-"+suffix, s.Width)
			b.Quiet(t)
		}
	}
}

// voidOnly are records none of which may be used.
func voidOnly() []store.Record {
	records := sweep(1)
	for i := range records {
		if records[i].Result != nil {
			records[i].Status, records[i].Reason = store.Void, "the generator was 9 ms late at p99"
		}
	}
	return records
}

func only(records []store.Record, status store.Status) []store.Record {
	var out []store.Record
	for _, r := range records {
		if r.Status == status {
			out = append(out, r)
		}
	}
	return out
}
