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
		{"one clock", 0, 0, Different},
		{"known well", 1e6, 1e6, Different},
		{"known less well than they differ", 3e6, 3e6, NoDifferenceShown},
		{"one side only", 0, 6e6, NoDifferenceShown},
	} {
		a, b := runs(50e6, c.boundOne), runs(55e6, c.boundB)
		d := ContrastOf(m, a, b)
		if d.Answer() != c.want || strings.Contains(d.Why(), "clocks") != (c.want != Different) {
			t.Errorf("%s: %v, %s", c.name, d.Answer(), d.Why())
		}
		ranking := Rank(m, []Contender{NewContender("a", m, a), NewContender("b", m, b)})
		if got := ranking.Rest[0].Against.Answer(); got != c.want {
			t.Errorf("%s: ranked %v", c.name, got)
		}
	}
}

// A script that reads a latency must be able to read by how much it may be off.
func TestAFlatRecordHasTheClocksBound(t *testing.T) {
	r := store.Record{Status: store.OK, Result: &store.Result{}}
	r.Result.ClockBoundNs = 3e6
	if got := Flat(r)[0].ClockBound; got != nil {
		t.Errorf("a bound of %d ns without a latency", *got)
	}
	h := hist.New()
	h.Record(50e6)
	r.Result.Latency.EndToEnd = h.Snapshot()
	if got := Flat(r)[0].ClockBound; got == nil || *got != 3e6 {
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
