package results

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Latencies that agents with different clocks took differ by the clocks alone, in every repetition alike: no test of repetitions sees it.
func TestNoDifferenceIsShownThatTheClocksMayHaveMade(t *testing.T) {
	m := MustMetric(KeyEndToEndMin)
	runs := func(ns, bound int64) []store.Record {
		var records []store.Record
		for i := range int64(8) {
			r := store.Record{Status: store.OK, Result: &store.Result{}}
			r.Result.ClockBoundNs = bound
			h := hist.New()
			h.Record(ns + i*200_000)
			r.Result.Latency.EndToEnd = h.Snapshot()
			records = append(records, r)
		}
		return records
	}
	for _, c := range []struct {
		name             string
		boundOne, boundB int64
		want             Answer
	}{
		{"one clock", 0, 0, Differs},
		{"known well", 1e6, 1e6, Differs},
		{"known less well than they differ", 3e6, 3e6, Undecided},
		{"one side only", 0, 6e6, Undecided},
	} {
		a, b := runs(50e6, c.boundOne), runs(55e6, c.boundB)
		d := DifferenceOf(m, a, b)
		if d.Answer != c.want || strings.Contains(d.Why(), "clocks") != (c.want != Differs) {
			t.Errorf("%s: %v, %s", c.name, d.Answer, d.Why())
		}
		ranking := Rank(m, []Contender{NewContender("a", m, a), NewContender("b", m, b)})
		if got := ranking.Rest[0].Against.Answer; got != c.want {
			t.Errorf("%s: ranked %v", c.name, got)
		}
	}
}

// A script that reads a latency must be able to read by how much it may be off.
func TestAFlatRecordHasTheClocksBound(t *testing.T) {
	r := store.Record{Status: store.OK, Result: &store.Result{}}
	r.Result.ClockBoundNs = 3e6
	if got := Flat(r)[0].Value("clock_bound_ns"); got != nil {
		t.Errorf("a bound of %d ns without a latency", got)
	}
	h := hist.New()
	h.Record(50e6)
	r.Result.Latency.EndToEnd = h.Snapshot()
	if got := Flat(r)[0].Value("clock_bound_ns"); got != int64(3e6) {
		t.Errorf("the bound is %v, want 3 ms", got)
	}
}

func TestALatencyBetweenAgentsStandsInATableOfItsOwn(t *testing.T) {
	p := Point{Spec: study.Spec{Delivery: "at-least-once"}}
	alone := p.Setting()
	p.Spec.Place.Deal = study.PlaceSpread
	spread := p.Setting()
	p.Spec.Place = study.Place{Producers: []string{"a"}, Consumers: []string{"b"}}
	if all := []string{alone, spread, p.Setting()}; len(slices.Compact(all)) != 3 || !strings.HasSuffix(spread, "agents' place spread") {
		t.Errorf("%q", all)
	}
}

// A sentence must not call a difference too variable that the clocks leave open, nor state a narrower interval than the table beside it.
func TestASentenceAboutLatenciesOfTwoClocksSaysWhatTheyLeaveOpen(t *testing.T) {
	values := func(from float64) []float64 {
		return []float64{from, from + 1e5, from + 2e5, from + 3e5, from + 4e5, from + 5e5, from + 6e5, from + 7e5}
	}
	m := MustMetric(KeyEndToEndP99)
	tied := Rank(m, []Contender{off(3e6, contender("a", values(2e6)...)), off(3e6, contender("b", values(5e6)...))}).String()
	const wantTied = "e2e p99 undecided between a 2.35 ms [0 ns–5.60 ms] (n=8) and b 5.35 ms [2.00–8.60 ms] (n=8). " +
		"The clocks by which they were taken leave ±6.00 ms open."
	if tied != wantTied {
		t.Errorf("got  %s\nwant %s", tied, wantTied)
	}
	behind := Rank(m, []Contender{contender("a", values(2e6)...), contender("b", values(5e6)...), off(9e6, contender("c", values(7e6)...))}).String()
	for _, want := range []string{
		"Lowest e2e p99: a 2.35 ms", ", before b 5.35 ms", " The measurement can't tell c 7.35 ms [0 ns–16.6 ms] (n=8) from the best.",
		"leave ±9.00 ms open.",
	} {
		if !strings.Contains(behind, want) {
			t.Errorf("no %q in %s", want, behind)
		}
	}
	if strings.Contains(behind, "scatter") {
		t.Errorf("the clocks are taken for scatter: %s", behind)
	}
	s := Summary{N: 1, Median: 2e6, Low: 2e6, High: 2e6, ClockBound: 3e6}
	if c := s.Cell(); c.Low != 0 || c.High != 5e6 || !c.Bounded {
		t.Errorf("a latency below 0 in a table: %+v", c)
	}
}
