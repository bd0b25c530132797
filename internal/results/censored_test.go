package results

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// runsWith are repetitions in which 9,000 messages took ns and 1,000 never came: they had waited for waited ns, unless that is 0.
func runsWith(n int, ns, waited int64) []store.Record {
	var records []store.Record
	for i := range int64(n) {
		h := hist.New()
		h.RecordN(ns+i*1000, 9000)
		if waited > 0 {
			h.RecordCensored(waited+i*1000, 1000)
		}
		r := store.Record{Status: store.OK, Result: &store.Result{}}
		r.Result.Latency.EndToEnd = h.Snapshot()
		records = append(records, r)
	}
	return records
}

func TestAQuantileBeyondWhatCameIsALowerBoundEverywhere(t *testing.T) {
	records := runsWith(1, 1e6, 5e9)
	for key, want := range map[string]string{
		KeyEndToEndMin: "1.00 ms", KeyEndToEndP50: "1.00 ms", KeyEndToEndP90: "1.00 ms",
		KeyEndToEndP95: "≥ 5.00 s", KeyEndToEndP99: "≥ 5.00 s", KeyEndToEndMax: "≥ 5.00 s", KeyEndToEndMean: "≥ 501 ms",
	} {
		m := MustMetric(key)
		s := m.Over(records)
		if got := s.Format(m.Unit); got != want || s.AtLeast() != strings.HasPrefix(want, "≥") {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
		cell := s.Cell()
		if cell.AtLeast != s.AtLeast() || s.AtLeast() && (cell.Kind != document.Interval || !math.IsInf(cell.High, 1) || !cell.Bounded) {
			t.Errorf("%s: the cell is %+v", key, cell)
		}
		if inFlat := slices.Contains(Flat(records[0])[0].Value("at_least").([]string), key); inFlat != s.AtLeast() {
			t.Errorf("%s: in at_least of a flat record: %v", key, inFlat)
		}
	}
}

func TestOverRepetitionsALowerBoundInTheMiddleMakesTheMedianOne(t *testing.T) {
	m := MustMetric(KeyEndToEndP99)
	for _, c := range []struct {
		open, all  int
		atLeast    bool
		boundsOpen bool
	}{{0, 5, false, false}, {1, 5, false, true}, {2, 5, false, true}, {3, 5, true, true}, {2, 4, true, true}} {
		s := m.Over(append(runsWith(c.open, 1e6, 5e9), runsWith(c.all-c.open, 1e6, 0)...))
		_, high := s.Bounds()
		if s.AtLeast() != c.atLeast || math.IsInf(high, 1) != c.boundsOpen || c.boundsOpen != math.IsInf(s.RelativeHalfWidth(), 1) && s.Confident {
			t.Errorf("%d of %d open: %+v up to %v", c.open, c.all, s, high)
		}
	}
}

// A broker that drops what it is slow with must not win, and a bound that an exact figure lies above tells nothing.
func TestALowerBoundLeadsNoRanking(t *testing.T) {
	m := MustMetric(KeyEndToEndP99)
	for _, n := range []int{1, 8} {
		drops, slow, fast := runsWith(n, 1e6, 10e9), runsWith(n, 20e9, 0), runsWith(n, 1e6, 0)
		r := Rank(m, []Contender{NewContender("drops", m, drops), NewContender("slow", m, slow)})
		if r.Best.Name != "slow" || r.Rest[0].Against.Answer == Differs {
			t.Errorf("n=%d: %s", n, r)
		}
		if text := r.String(); strings.Contains(text, "times") || !strings.Contains(text, "drops ≥ 10.0 s (n=") {
			t.Errorf("n=%d: %s", n, text)
		}
		r = Rank(m, []Contender{NewContender("drops", m, drops), NewContender("fast", m, fast)})
		against := r.Rest[0].Against
		if r.Best.Name != "fast" || (n == 8) != (against.Answer == Differs) || !strings.HasPrefix(against.Change(), "at least ") {
			t.Errorf("n=%d: %s; %s", n, r, against.Change())
		}
		if d := DifferenceOf(m, drops, runsWith(n, 1e6, 30e9)); d.Answer == Differs || d.Change() != "not known to be different" {
			t.Errorf("n=%d: of two bounds: %v, %s", n, d.Answer, d.Change())
		}
	}
}

func TestALowerBoundIsWrittenWithItsUnit(t *testing.T) {
	if got := (Summary{N: 1, Median: 1.5e6, Low: 1.5e6, High: 1.5e6, Above: math.Inf(1)}).Format(unit.Nanoseconds); got != "≥ 1.50 ms" {
		t.Error(got)
	}
}
