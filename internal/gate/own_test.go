package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// paused is a record of 30,000 messages at 1,000/s to a broker that takes 1 ms. Every 1 ms of the pause, one message was due in it.
func paused(pause, stall time.Duration) store.Record {
	e2e, fromSend, lag, late := hist.New(), hist.New(), hist.New(), hist.New()
	ms, waited := int64(time.Millisecond), int64(pause/time.Millisecond)
	for left := ms; left <= waited*ms; left += ms {
		e2e.Record(left + ms)
		fromSend.Record(ms)
		lag.Record(left)
	}
	for left := ms; left <= int64(stall); left += ms { // the broker's own
		e2e.Record(left + ms)
		fromSend.Record(left + ms)
		lag.Record(0)
	}
	rest := 30_000 - lag.Snapshot().Count()
	e2e.RecordN(ms, rest)
	fromSend.RecordN(ms, rest)
	lag.RecordN(0, rest)
	for left := int64(pause); left > 0; left -= 5 * ms {
		late.Record(left)
	}
	late.RecordN(50_000, 6000-late.Snapshot().Count())
	r := point("x", time.Millisecond, 0)
	r.Spec.Measure = "rate"
	r.Result.Latency = store.Latency{EndToEnd: e2e.Snapshot(), EndToEndService: fromSend.Snapshot(), GeneratorLag: lag.Snapshot()}
	r.Result.Pauses = &store.Pauses{Late: late.Snapshot(), LongestNs: int64(pause)}
	return r
}

func TestALatencyThatWouldPassWithoutTheGeneratorsPauseIsUndecidedAtEveryQuantile(t *testing.T) {
	const none, pause = time.Duration(0), 100 * time.Millisecond
	for _, c := range []struct {
		condition    string
		pause, stall time.Duration
		want         gate.Outcome
	}{
		{"e2e_p999 > 20ms", none, none, gate.Passed},
		{"e2e_p999 > 20ms", none, pause, gate.Failed},
		{"e2e_p999 > 20ms", pause, none, gate.Undecided},
		{"e2e_p999 > 20ms", pause, 400 * time.Millisecond, gate.Failed},
		{"e2e_p999 >= 20ms", pause, none, gate.Undecided},
		{"e2e_max > 20ms", pause, none, gate.Undecided},
		{"e2e_max > 20ms", pause, 400 * time.Millisecond, gate.Failed},
		{"e2e_max > 350ms", pause, 400 * time.Millisecond, gate.Undecided}, // a message may have waited for both
		{"e2e_p99 > 20ms", pause, none, gate.Passed},
		{"e2e_p99 > 500us", pause, none, gate.Failed},
		{"e2e_mean > 1.1ms", pause, none, gate.Undecided},
		{"e2e_mean > 500us", pause, none, gate.Failed},
		{"e2e_service_p99 > 500us", pause, none, gate.Failed},
	} {
		condition, err := gate.Parse(c.condition)
		if err != nil {
			t.Fatal(err)
		}
		r := paused(c.pause, c.stall)
		v := gate.Judge(results.Of([]store.Record{r}), []gate.Condition{condition})
		if len(v) != 1 || v[0].Outcome != c.want {
			t.Errorf("%s, paused for %s, broker stalled for %s: %+v; want %s", c.condition, c.pause, c.stall, v, c.want)
		}
		if c.want == gate.Undecided && (gate.Failures(v) != 1 || !strings.Contains(v[0].Text, " of it may be the generator's own lag and pauses")) {
			t.Errorf("%+v", v)
		}
	}
	missing := paused(pause, none)
	missing.Spec.Objectives = map[string]any{"e2e_p999": "< 20ms"}
	if v := gate.JudgeObjectives(results.Of([]store.Record{missing})); len(v) != 1 || v[0].Outcome != gate.Undecided {
		t.Errorf("%+v", v)
	}
}

func TestAChangeThatOnlyTheGeneratorsPauseMadeIsUndecided(t *testing.T) {
	const pause = 100 * time.Millisecond
	slower, err := gate.ParseChange("e2e_p999 > 10%")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		from, to store.Record
		want     gate.Outcome
	}{
		{"paused", paused(0, 0), paused(pause, 0), gate.Undecided},
		{"stalled", paused(0, 0), paused(0, pause), gate.Failed},
		{"both paused, one stalled", paused(pause, 0), paused(pause, 2*pause), gate.Failed},
	} {
		pair := results.Pair{A: results.Of(thrice(c.from)).Points, B: results.Of(thrice(c.to)).Points}
		v := gate.Changes([]results.Pair{pair}, []gate.Condition{slower}, false)
		if len(v) != 1 || v[0].Outcome != c.want {
			t.Errorf("%s: %+v; want %s", c.name, v, c.want)
		}
	}
}
