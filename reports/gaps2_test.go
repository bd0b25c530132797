package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// comparedWords sets jetstream against kafka and gives the words of it.
func comparedWords(t *testing.T, a, b []store.Record, named ...string) string {
	t.Helper()
	d := Compare(Side{"kafka", results.Of(a)}, Side{"jetstream", results.Of(b)}, append(named, "broker")...)
	return strings.ReplaceAll(string(rendered(t, d, "markdown", 0)), "\\", "")
}

func TestAClosedLoopOnEitherSideOfAComparisonIsNamed(t *testing.T) {
	loop := func(broker string, closed bool) []store.Record {
		return altered(atRate(broker, 2), "", func(r *store.Record) {
			if closed {
				r.Spec.Measure, r.Spec.Load = "peak", study.Load{Shape: "constant"}
			}
		})
	}
	for _, closed := range [][2]bool{{true, false}, {false, true}, {true, true}, {false, false}} {
		text := comparedWords(t, loop("kafka", closed[0]), loop("jetstream", closed[1]), "measure")
		if got := strings.Contains(text, "are closed loops"); got != (closed[0] || closed[1]) {
			t.Errorf("closed %v: said %v:\n%s", closed, got, text)
		}
	}
}

func TestAComparisonOfFewOrEqualRunsHasWordsOfItsOwn(t *testing.T) {
	kafka, same := atRate("kafka", 1), altered(atRate("kafka", 1), "b", func(r *store.Record) { r.Spec.Broker, r.Axes["broker"] = "jetstream", "jetstream" })
	count := func(records []store.Record, seconds *store.Count) []store.Record {
		return altered(records, "", func(r *store.Record) { r.Spec.Measure, r.Result.Count = "count", seconds })
	}
	losing := altered(kafka, "", func(r *store.Record) { r.Result.Books.LostAcked = 3 })
	for want, text := range map[string]string{
		"e2e p99: jetstream is equal to kafka; one run each, so not tested":  comparedWords(t, kafka, same),
		"total time: not known of kafka":                                     comparedWords(t, count(kafka, nil), count(same, nil)),
		"total time: jetstream is 2.0 times higher than kafka; one run each": comparedWords(t, count(kafka, &store.Count{TotalSeconds: 1}), count(same, &store.Count{TotalSeconds: 2})),
		"| lost after ack | 3 | 0 |":                                         comparedWords(t, losing, same),
		"| lost after ack | 0 | 3 |":                                         comparedWords(t, kafka, altered(same, "", func(r *store.Record) { r.Result.Books.LostAcked = 3 })),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := comparedWords(t, kafka, same); strings.Contains(text, "lost after ack") {
		t.Errorf("nothing but zeros is compared:\n%s", text)
	}
}

func TestEveryPartOfAReportHasAHeadingOfTheFirstLevel(t *testing.T) {
	records := append(demo(1)[:4], curved(1), through("redis", "at-least-once", "log", kill, store.Books{}))
	documents := map[string]document.Document{"compare": Compare(Side{"a", results.Of(atRate("kafka", 1))}, Side{"b", results.Of(atRate("jetstream", 1))}, "broker")}
	for _, name := range []string{"summary", "headtohead", "trials", "points", "promise"} {
		documents[name] = build(t, name, records)
	}
	for name, d := range documents {
		n := 0
		for _, b := range d.Blocks {
			if h, ok := b.(document.Heading); ok {
				if n++; h.Level != 1 {
					t.Errorf("%s: %q is of level %d", name, h.Text, h.Level)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s has no heading", name)
		}
	}
}

// Whichever count of the books is not what it should be, the ledger doesn't say that all is well.
func TestAnyFaultInTheBooksIsAFault(t *testing.T) {
	counts := []func(*store.Books) *int64{
		func(b *store.Books) *int64 { return &b.Lost }, func(b *store.Books) *int64 { return &b.Duplicated },
		func(b *store.Books) *int64 { return &b.Reordered }, func(b *store.Books) *int64 { return &b.Corrupted },
	}
	for i, first := range counts {
		for k, second := range counts {
			records := altered(atRate("kafka", 1), "", func(r *store.Record) { *first(&r.Result.Books), *second(&r.Result.Books) = 1, 1 })
			if text := string(rendered(t, build(t, "ledger", records), "markdown", 0)); strings.Contains(text, "No stream shows a fault") {
				t.Errorf("counts %d and %d are no fault", i, k)
			}
		}
	}
	due := func(unsent int64) string {
		records := altered(atRate("kafka", 1), "", func(r *store.Record) { r.Result.Books.Due, r.Result.Books.Unsent = r.Result.Books.Sent+unsent, unsent })
		return string(rendered(t, build(t, "ledger", records), "markdown", 0))
	}
	for unsent, told := range map[int64]bool{0: false, 1: true} {
		if text := due(unsent); strings.Contains(text, "Due: by the schedule") != told || strings.Contains(text, "| due |") != told {
			t.Errorf("%d unsent are told: %v\n%s", unsent, !told, text)
		}
	}
	bare := []store.Record{{PointID: "p", Status: store.OK, Result: &store.Result{}}}
	if d := build(t, "ledger", bare); len(d.Tables()) != 1 || len(d.Tables()[0].Rows) != 1 {
		t.Error("a repetition without books has no row")
	}
}

func TestARowOfAHeadToHeadNeedsOneRepetitionOnly(t *testing.T) {
	search, peak := atRate("kafka", 1), atRate("kafka", 1)
	search = altered(search, "s", func(r *store.Record) {
		r.Spec.Measure, r.Result.Sustainable = "sustainable", &store.Sustainable{Low: 5000, High: 5200}
		r.Result.Cost = store.Cost{}
	})
	peak = altered(peak, "p", func(r *store.Record) {
		r.Spec.Measure, r.Result.PublishRate = "peak", 7000
		r.Result.Cost.GeneratorUserSeconds *= 3
	})
	table := build(t, "headtohead", slices.Concat(search, peak, atRate("kafka", 1))).Tables()[0]
	if c := cellsOf(t, table, "sustainable")["kafka"]; c.Number != 5000 || c.Low != 5000 || c.High != 5200 {
		t.Errorf("sustainable %+v", c)
	}
	if c := cellsOf(t, table, "peak_rate")["kafka"]; c.Number != 7000 {
		t.Errorf("peak %+v", c)
	}
	// A search that cost nothing was not metered: the peak's cost stands in the row.
	if c := cellsOf(t, table, "generator_cpu_s_per_million")["kafka"]; c.Number < 1.82 || c.Number > 1.84 {
		t.Errorf("cost %+v", c)
	}
	if c := cellsOf(t, table, "n")["kafka"]; c.Number != 1 {
		t.Errorf("n %+v", c)
	}
}

func TestOnlyOneRateHasAColumn(t *testing.T) {
	shaped := func(shape string, rate float64) []store.Record {
		return altered(atRate("kafka", 1), shape, func(r *store.Record) { r.Spec.Load = study.Load{Shape: shape, Rate: rate} })
	}
	for shape, want := range map[string]string{"": "e2e_p50_ns_at_0.5", "constant": "e2e_p50_ns_at_0.5", "poisson": "e2e_p50_ns_at_0.5", "steps": "", "ramp": "", "bursts": ""} {
		var keys []string
		for _, c := range build(t, "headtohead", shaped(shape, 0.5)).Tables()[0].Columns {
			if strings.HasPrefix(c.Key, "e2e_p50") {
				keys = append(keys, c.Key)
			}
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q: columns %q, want %q", shape, got, want)
		}
	}
}

func TestAWholeLoadAsAnAxisSetsWorkloadsApart(t *testing.T) {
	var records []store.Record
	for _, broker := range []string{"kafka", "jetstream"} {
		for _, rate := range []float64{1000, 2000} {
			records = append(records, altered(atRate(broker, 4), fmt.Sprint(rate), func(r *store.Record) {
				r.Axes = map[string]string{"broker": broker, "load": fmt.Sprint("at ", rate)}
				r.Spec.Load.Rate = rate
			})...)
		}
	}
	text := textOf(rankingVerdicts(group{"100 B", results.Of(records).Points}))
	if strings.Count(text, "Lowest e2e p99") != 2 || !strings.Contains(text, "At rate 1k/s") || !strings.Contains(text, "At rate 2k/s") {
		t.Errorf("rates are ranked against each other: %s", text)
	}
}

func TestWhatTheMachineDidIsShownWhereItIsDoubted(t *testing.T) {
	for code, shown := range map[string]bool{"pauses": true, "generator-lag": true, "old-version": false} {
		records := altered(atRate("kafka", 1), "", func(r *store.Record) {
			r.Doubts = []store.Doubt{{Code: code, Text: "so"}}
			r.Result.Pauses = &store.Pauses{Late: r.Result.Latency.Lag, LongestNs: 5e6}
		})
		if text := string(rendered(t, build(t, "summary", records), "terminal", 200)); strings.Contains(text, "own pauses") != shown {
			t.Errorf("with the doubt %s own pauses are shown: %v\n%s", code, !shown, text)
		}
	}
}

func TestADoubtOfOneRateAmongSeveralNamesIt(t *testing.T) {
	curve := func(rates ...float64) store.Record {
		r := curved(1)
		r.Doubts, r.Result.Sustainable, r.Result.Curve = nil, nil, nil
		for i, rate := range rates {
			at := products[1].result(100, rate, 1).Measurement
			l := store.CurvePoint{Rate: rate, Status: store.OK, Measurement: at, Doubts: []store.Doubt{{Code: "all", Text: "of every rate"}}}
			if i == 0 {
				l.Doubts = append(l.Doubts, store.Doubt{Code: "first", Text: "of the first"})
			}
			r.Result.Curve = append(r.Result.Curve, l)
		}
		return r
	}
	for n, want := range [][]string{1: {"all: of every rate", "first: of the first"}, 2: {"all: of every rate", "curve 1k/s, first: of the first"}, 3: {"all: of every rate", "curve 1k/s, first: of the first"}} {
		if n == 0 {
			continue
		}
		var got []string
		d := build(t, "summary", []store.Record{curve([]float64{1000, 2000, 3000}[:n]...)})
		for _, b := range d.Blocks {
			if note, ok := b.(document.Note); ok {
				got = append(got, note.Text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d rates: notes %q, want %q", n, got, want)
		}
	}
}

func TestARepetitionAndWhatIsLeftOutAreShownWhereThereAreAny(t *testing.T) {
	one := through("redis", "at-least-once", "log", kill, store.Books{})
	two := one
	two.Repetition = 2
	for n, records := range [][]store.Record{{one}, {one, two}} {
		text := string(rendered(t, build(t, "promise", records), "terminal", 150))
		if strings.Contains(text, "rep.") != (n > 0) || strings.Contains(text, "Left out") {
			t.Errorf("%d repetitions:\n%s", n+1, text)
		}
	}
	if text := string(rendered(t, build(t, "promise", append(atRate("kafka", 2), one)), "terminal", 150)); !strings.Contains(text, "Left out: 2 records without a fault.") {
		t.Errorf("two records are left out silently:\n%s", text)
	}
}

func TestASlopeThatRoundingLeavesIsNone(t *testing.T) {
	r := demo(1)[0]
	for slope, want := range map[float64]float64{0.01: 0.01, -0.01: -0.01, 0.00999: 0} {
		r.Result.Sustainable.Trials = []store.Trial{{Kind: "short", Rate: 5, BacklogSlope: slope}}
		table := build(t, "trials", []store.Record{r}).Tables()[0]
		if got := table.Rows[0]["backlog_slope"].Number; got != want {
			t.Errorf("a slope of %v is shown as %v", slope, got)
		}
	}
}

func TestThePointsReportTellsOfTheLastAttempt(t *testing.T) {
	records := atRate("kafka", 3)
	for i := range records {
		records[i].Spec.Seed = int64(100 + i)
		records[i].Began = time.Date(2026, 3, 1+i, 9, 0, 0, 0, time.UTC)
		records[i].Ended = records[i].Began.Add(1500 * time.Millisecond)
	}
	text := string(rendered(t, build(t, "points", records), "markdown", 0))
	if !strings.Contains(text, "seed: 102") || strings.Contains(text, "seed: 100\n") {
		t.Errorf("not the spec of the last attempt:\n%s", text)
	}
	if !strings.Contains(text, "repetition 3 ok, 2026-03-03T09:00:00Z, took 2s.") {
		t.Errorf("the repetitions are told as\n%s", text)
	}
}

// A rate of one message per second is a rate of its own like any other.
func TestTheSlowestRateOfACurveHasItsOwnBooks(t *testing.T) {
	r := curved(1)
	r.Result.Sustainable, r.Result.Curve = nil, r.Result.Curve[:1]
	l := &r.Result.Curve[0]
	l.Rate, l.Fraction, l.Books.Lost, l.Books.Received = 1, 0, 1, l.Books.Received-1
	text := string(rendered(t, build(t, "ledger", []store.Record{r}), "markdown", 0))
	if !strings.Contains(text, "was not recorded") {
		t.Errorf("its loss is not told:\n%s", text)
	}
	l.Books, l.Doubts = store.Books{}, nil
	if text := string(rendered(t, build(t, "ledger", []store.Record{r}), "markdown", 0)); !strings.Contains(text, "No record holds a ledger.") {
		t.Errorf("books that nobody kept:\n%s", text)
	}
}

func TestTheOnlyGoalOfASearchHasARow(t *testing.T) {
	r := demo(1)[0]
	r.Result.Sustainable.Goals = []store.GoalResult{{LatencyNs: 2e6, Quantile: 0.99, Low: 500, High: 520, Conditional: 490}}
	tables := build(t, "summary", []store.Record{r}).Tables()
	i := slices.IndexFunc(tables, func(t document.Table) bool { return t.Title == "Goals of the searches" })
	if i < 0 || len(tables[i].Rows) != 1 || cellsOf(t, tables[i], "goal")["kafka"].Text != "p99 ≤ 2ms" {
		t.Errorf("%d tables, at %d", len(tables), i)
	}
}
