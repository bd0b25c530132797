package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestACurveFailsOnlyIfAllItsRatesDo(t *testing.T) {
	for _, c := range []struct {
		levels []store.Status
		void   bool
		fails  string
		doubt  string
	}{
		{levels: []store.Status{store.OK, store.OK}},
		{levels: []store.Status{store.OK, store.Failed}, doubt: "1 of 2 loads did not stand; at 2000/s: why"},
		{levels: []store.Status{store.Void, store.OK, store.Failed}, doubt: "2 of 3 loads did not stand; at 1000/s: why"},
		{levels: []store.Status{store.Void, store.Failed}, fails: "2 of 2 loads did not stand; at 1000/s: why"},
		{levels: []store.Status{store.Void, store.Void}, void: true, fails: "2 of 2 loads did not stand; at 1000/s: why"},
		{levels: []store.Status{store.Failed}, fails: "1 of 1 loads did not stand; at 1000/s: why"},
	} {
		b := &bench{record: &store.Record{Result: &store.Result{}, Doubts: []store.Doubt{{Code: "attached"}}}}
		for i, status := range c.levels {
			l := store.CurvePoint{Rate: float64(1000 * (i + 1)), Status: status}
			if status != store.OK {
				l.Reason = "why"
			}
			b.record.Result.Curve = append(b.record.Result.Curve, l)
		}
		err := b.judgeCurve()
		if got := errorText(err); got != c.fails || (err != nil && err.(judgement).status == store.Void) != c.void {
			t.Errorf("%v: %v, want %q", c.levels, err, c.fails)
		}
		switch first := b.record.Doubts[0]; {
		case c.doubt == "" && len(b.record.Doubts) != 1:
			t.Errorf("%v: doubts %v", c.levels, b.record.Doubts)
		case c.doubt != "" && (first.Code != "bad-levels" || first.Text != c.doubt):
			t.Errorf("%v: the first doubt is %v, want %q", c.levels, first, c.doubt)
		}
	}
}

func TestMessagesLeftByTheLoadBeforeAreADoubt(t *testing.T) {
	clean := worker.Outcome{Drained: true}
	for name, c := range map[string]struct {
		before, now worker.Outcome
		want        string
	}{
		"nothing":            {before: clean},
		"lost for good":      {before: worker.Outcome{Measured: measure.Books{Lost: 5}}},
		"still coming":       {before: worker.Outcome{Arriving: true, Warmup: measure.Books{Lost: 1}, Measured: measure.Books{Lost: 5}}, want: "the load before wasn't drained: 6 of its deliveries were still due when this one began"},
		"came meanwhile":     {before: clean, now: worker.Outcome{Warmup: measure.Books{Stale: 2}, Measured: measure.Books{Stale: 1}}, want: "the load before wasn't drained: 3 of its deliveries came during this one"},
		"without an outcome": {before: worker.Outcome{Measured: measure.Books{Unresolved: 4}}, want: "the load before wasn't drained: the fate of 4 of its messages was open when this one began"},
	} {
		got := undrained(c.before, c.now)
		if c.want == "" && len(got) != 0 || c.want != "" && (len(got) != 1 || got[0].Code != "undrained" || got[0].Text != c.want) {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// errorText returns the text of an error; empty if there is none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
