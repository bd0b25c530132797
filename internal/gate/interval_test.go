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

func TestAChangePassesOnlyIfItsIntervalKeepsTheLimit(t *testing.T) {
	ms := time.Millisecond
	slow := repeated("b", 11*ms, 12*ms, 12*ms, 13*ms, 14*ms)
	fast := repeated("a", 6*ms, 7*ms, 8*ms, 9*ms, 10*ms)
	noisy := repeated("a", 5*ms, 9*ms, 10*ms, 20*ms, 30*ms)
	void := ended(store.Void, "the generator was late")
	none := point("none", ms, 0)
	for _, c := range []struct {
		name, condition string
		a, b            []store.Record
		want            string
	}{
		{"more than the limit", "e2e_p99 > 10%", fast, slow, "failed +50.0 %, 8.00 ms to 12.0 ms (p = 0.0"},
		{"the better way", "e2e_p99 > 10%", slow, fast, "passed −33.3 %, 12.0 ms to 8.00 ms"},
		{"shown, but the limit lies within", "e2e_p99 > 60%", fast, slow, "undecided +50.0 %"},
		{"shown, but less than the limit", "e2e_p99 > 200%", fast, slow, "passed +50.0 %"},
		{"noise", "e2e_p99 > 10%", noisy, slow, "undecided +20.0 %, 10.0 ms to 12.0 ms; the ratio lies within "},
		{"once each", "e2e_p99 > 10%", fast[:1], slow[:1], "undecided +83.3 %, 6.00 ms to 11.0 ms; one run each decides nothing: it takes 3 each"},
		{"from nothing", "sustainable > 5%", []store.Record{none}, fast[:1], "undecided 0/s to 10k/s; one run each"},
		{"void on one side", "e2e_p99 > 10%", fast, []store.Record{void}, "failed void void: the generator was late"},
		{"refused on one side", "e2e_p99 > 10%", fast, []store.Record{ended(store.Refused, "can't")}, "skipped refused refused: can't\nfailed no workload"},
		{"nothing in common", "e2e_p99 > 10%", fast, nil, "failed only the first side has this workload"},
		{"one workload in common", "e2e_p99 > 10%", slow, append(faster(fast), fast...), "passed −33.3 %, 12.0 ms to 8.00 ms (p = 0.008, n=5 and n=5)\nfailed only the second side"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := change(t, c.condition, c.a, c.b); !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s…", got, c.want)
			}
		})
	}
}

// faster are the records at another rate.
func faster(records []store.Record) []store.Record {
	var others []store.Record
	for _, r := range records {
		r.PointID, r.Spec.Load.Rate = "faster", 2000
		others = append(others, r)
	}
	return others
}

// A gate that a few repetitions don't pass is not passed by more of the same.
func TestMoreRepetitionsMakeNoGateMoreLenient(t *testing.T) {
	ms := time.Millisecond
	before, after := []time.Duration{10 * ms, 11 * ms, 9 * ms, 10 * ms}, []time.Duration{13 * ms, 14 * ms, 12 * ms, 10500 * time.Microsecond}
	for n := 1; n <= 4; n++ {
		if got := change(t, "e2e_p99 > 10%", repeated("a", before[:n]...), repeated("b", after[:n]...)); strings.HasPrefix(got, "passed") {
			t.Errorf("n=%d: %s", n, got)
		}
	}
}

func TestWhatOnlyOneSideHasMayBeAllowed(t *testing.T) {
	c, err := gate.ParseChange("e2e_p99 > 10%")
	if err != nil {
		t.Fatal(err)
	}
	pairs := []results.Pair{{Title: "gone", A: results.Of(repeated("a", time.Millisecond)).Points}}
	if v := gate.Changes(pairs, []gate.Condition{c}, true); v[0].Outcome != gate.Skipped || gate.Failures(v) != 1 { // nothing is left to judge
		t.Errorf("%+v", v)
	}
}

func TestFewerThanHalfOfTheRepetitionsDecideNothing(t *testing.T) {
	records := repeated("x", time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond)
	for i := range 2 {
		records[i].Status, records[i].Reason = store.Void, "the generator was late"
	}
	if got := judge(t, "e2e_p99 > 50ms", records...); !strings.HasPrefix(got, "passed") {
		t.Errorf("3 of 5 ok: %s", got)
	}
	records[2].Status = store.Void
	if got, want := judge(t, "e2e_p99 > 50ms", records...), "undecided x: void 3 of 5, ok 2 of 5: fewer than half of the repetitions ended ok"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The limit lies inside the bracket, so the search doesn't say on which side of it the rate is.
func TestALimitWithinTheBracketOfASearchIsUndecided(t *testing.T) {
	r := point("x", time.Millisecond, 48_300)
	r.Result.Sustainable.High = 50_700
	for limit, want := range map[string]string{
		"sustainable < 48k/s": "passed", "sustainable < 49k/s": "undecided", "sustainable < 51k/s": "failed", "sustainable > 51k/s": "passed",
	} {
		if got := judge(t, limit, r); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", limit, got, want)
		}
	}
	r.Result.Sustainable.Limits = store.Limits{{Cause: "generator", Reached: true}}
	if got, want := judge(t, "sustainable < 51k/s", r), "undecided x: ≥ 48.3k/s (n=1): the search leaves that much open, and the truth is at least 48.3k/s"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAQuantileOfTooFewMessagesIsUndecided(t *testing.T) {
	r := point("x", time.Millisecond, 0)
	h := hist.New()
	h.RecordN(int64(time.Millisecond), 80)
	r.Result.Latency.EndToEnd = h.Snapshot()
	if got := judge(t, "e2e_p99 > 50ms", r); !strings.HasPrefix(got, "undecided x: 1.00 ms (n=1): too few messages") {
		t.Error(got)
	}
}
