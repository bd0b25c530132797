package gate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// load point is one rate of a curve, with its p99 and losses of 1,000 messages.
func loadPoint(rate float64, status store.Status, p99 time.Duration, lost int64) store.CurvePoint {
	h := hist.New()
	h.RecordN(int64(p99), 10_000)
	l := store.CurvePoint{Rate: rate, Status: status, Measurement: store.Measurement{
		Books:   store.Books{Sent: 1000, Acked: 1000, Expected: 1000, Received: 1000 - lost, Lost: lost},
		Latency: store.Latency{EndToEnd: h.Snapshot()},
	}}
	if status != store.OK {
		l.Reason = "why\nand more"
	}
	return l
}

func curve(broker string, repetition int, loadPoints ...store.CurvePoint) store.Record {
	r := point(broker, time.Millisecond, 0)
	r.Spec.Measure, r.Repetition = "curve", repetition
	r.Began, r.Ended = time.Unix(0, 0), time.Unix(10, 0)
	r.Result = &store.Result{Measurement: loadPoints[len(loadPoints)-1].Measurement, Curve: loadPoints}
	return r
}

// A threshold that is no further from a latency than two clocks are known to each other is neither kept nor crossed.
func TestAThresholdWithinTheClocksBoundIsUndecided(t *testing.T) {
	between := func(bound time.Duration) store.Record {
		r := point("x", 50*time.Millisecond, 0)
		h := hist.New()
		h.RecordN(int64(50*time.Millisecond), 10_000)
		r.Spec.Measure, r.Result.Latency = "rate", store.Latency{EndToEnd: h.Snapshot(), Publish: h.Snapshot()}
		r.Result.ClockBoundNs = int64(bound)
		return r
	}
	for _, c := range []struct {
		condition string
		bound     time.Duration
		want      gate.Outcome
	}{
		{"e2e_p99 > 51ms", 0, gate.Passed},
		{"e2e_p99 > 51ms", 100 * time.Microsecond, gate.Passed},
		{"e2e_p99 > 51ms", 2 * time.Millisecond, gate.Undecided},
		{"e2e_p99 > 49ms", 2 * time.Millisecond, gate.Undecided},
		{"e2e_p99 < 51ms", 2 * time.Millisecond, gate.Undecided},
		{"e2e_p99 > 45ms", 2 * time.Millisecond, gate.Failed},
		{"publish_p99 > 51ms", 2 * time.Millisecond, gate.Passed}, // by one clock
		{"lost > 0", 2 * time.Millisecond, gate.Failed},           // of 10, by no clock
		{"lost > 10", 2 * time.Millisecond, gate.Passed},
	} {
		condition, err := gate.Parse(c.condition)
		if err != nil {
			t.Fatal(err)
		}
		verdicts := gate.Judge(results.Of([]store.Record{between(c.bound)}), []gate.Condition{condition})
		if len(verdicts) != 1 || verdicts[0].Outcome != c.want || (gate.Failures(verdicts) > 0) != (c.want == gate.Failed || c.want == gate.Undecided) {
			t.Errorf("%s, known to %s: %+v; want %s", c.condition, c.bound, verdicts, c.want)
		}
		if c.want == gate.Undecided && !strings.Contains(verdicts[0].Text, "±2.00 ms, and the truth lies within 48.0–52.0 ms") {
			t.Error(verdicts[0].Text)
		}
	}
	wide, err := gate.Parse("e2e_p99 > 51ms")
	if err != nil {
		t.Fatal(err)
	}
	verdict := gate.Judge(results.Of([]store.Record{between(60 * time.Millisecond)}), []gate.Condition{wide})[0]
	if !strings.Contains(verdict.Text, "the truth lies within 0 ns–110 ms") {
		t.Errorf("a latency below 0 may be the truth: %s", verdict.Text)
	}
	missing := between(2 * time.Millisecond)
	missing.Spec.Objectives = map[string]any{"e2e_p99": "< 51ms"}
	verdicts := gate.JudgeObjectives(results.Of([]store.Record{missing}))
	if len(verdicts) != 1 || verdicts[0].Outcome != gate.Undecided {
		t.Errorf("%+v", verdicts)
	}
	objectives, err := gate.Objectives(missing.Spec)
	if err != nil || objectives[0].Missed([]results.Record{missing}) {
		t.Errorf("%v: an objective was missed that may have been kept", err)
	}
}

func TestEveryRateOfACurveIsJudged(t *testing.T) {
	ok, ms := store.OK, time.Millisecond
	fine := []store.CurvePoint{loadPoint(1000, ok, ms, 0), loadPoint(2000, ok, 5*ms, 3), loadPoint(4000, ok, 90*ms, 0)}
	searched := curve("searched", 1, fine...)
	searched.Result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: 5000}
	bad := curve("x", 1, loadPoint(1000, ok, ms, 0), loadPoint(2000, store.Failed, ms, 9))
	again := curve("x", 2, loadPoint(1000, store.Void, ms, 0), loadPoint(2000, ok, ms, 9))
	for _, c := range []struct {
		name, condition string
		records         []store.Record
		want            []string
	}{
		{"latency", "e2e_p99 > 50ms", []store.Record{curve("x", 1, fine...)}, []string{"passed 1k/s: 1.00 ms (n=1)", "passed 2k/s: 5.00 ms (n=1)", "failed 4k/s: 90.0 ms (n=1)"}},
		{"loss in the middle", "lost > 0", []store.Record{curve("x", 1, fine...), curve("x", 2, fine...)}, []string{"passed 1k/s: 0 in all (n=2)", "failed 2k/s: 6 in all (n=2)", "passed 4k/s: 0 in all (n=2)"}},
		{"of the search alone", "sustainable > 4k/s", []store.Record{searched}, []string{"failed sustainable: ≥ 5k/s (n=1)"}},
		{"of none", "total > 1s", []store.Record{curve("x", 1, fine[:2]...)}, []string{"skipped 1k/s: total_s was not measured", "skipped 2k/s: total_s was not measured", "failed all points: no point has a value to judge"}},
		{"void once, failed once", "lost > 100", []store.Record{bad, again}, []string{"passed 1k/s: 0 (n=1)", "failed 2k/s: failed: why", "passed 2k/s: 9 (n=1)"}},
		{"void throughout", "lost > 100", []store.Record{curve("x", 1, loadPoint(1000, store.Void, ms, 0), loadPoint(2000, ok, ms, 0))}, []string{"failed 1k/s: void: why", "passed 2k/s: 0 (n=1)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			condition, err := gate.Parse(c.condition)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range gate.Judge(results.Of(c.records), []gate.Condition{condition}) {
				parts := strings.Split(v.Point, ", ")
				got = append(got, string(v.Outcome)+" "+strings.TrimPrefix(parts[len(parts)-1], "rate ")+": "+v.Text)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	endings := gate.Endings(results.Of([]store.Record{bad, again}))
	if len(endings) != 3 || gate.Failures(endings) != 1 || endings[0].Seconds != 20 || endings[1].Seconds != 0 || endings[2].Seconds != 0 {
		t.Errorf("two repetitions of 10 s, one rate failed once: %+v", endings)
	}
}

func TestChangesOfCurvesAreJudgedRateByRate(t *testing.T) {
	ok, ms := store.OK, time.Millisecond
	a := []store.Record{curve("a", 1, loadPoint(1000, ok, ms, 0), loadPoint(2000, ok, ms, 0), loadPoint(9000, ok, ms, 0))}
	b := []store.Record{curve("b", 1, loadPoint(1000, ok, ms, 0), loadPoint(2000, ok, 3*ms, 0), loadPoint(8000, ok, 9*ms, 0))}
	want := []string{
		"passed 0 %, 1.00 ms to 1.00 ms (", "failed +200 %, 1.00 ms to 3.00 ms (p < 0.001",
		"failed only the first side has this load", "failed only the second side has this load",
	}
	got := strings.Split(change(t, "e2e_p99 > 10%", thrice(a[0]), thrice(b[0])), "\n")
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	b[0].Result.Curve[0].Latency = store.Latency{}
	if got := change(t, "e2e_p99 > 10%", a, b); !strings.Contains(got, "skipped e2e_p99_ns was not measured on both sides") {
		t.Errorf("a rate without a latency on one side: %s", got)
	}
	b[0].Result.Curve[1].Status, b[0].Result.Curve[1].Reason = store.Failed, "lost"
	if got := change(t, "e2e_p99 > 10%", a, b); !strings.Contains("\n"+got, "\nfailed b failed: lost\n") {
		t.Errorf("a rate that failed on one side: %s", got)
	}
}

// A rate that was void in one repetition says nothing there, and is judged by the others, as a report's gate does.
func TestAChangeAtARateLeavesOutRepetitionsThatShowNothing(t *testing.T) {
	ok, ms := store.OK, time.Millisecond
	a := []store.Record{curve("a", 1, loadPoint(1000, ok, ms, 0)), curve("a", 2, loadPoint(1000, ok, ms, 0))}
	of := func(first, second store.Status) []store.Record {
		other := loadPoint(9000, ok, ms, 0) // so that the repetition is ok
		return []store.Record{curve("b", 1, loadPoint(1000, first, ms, 0), other), curve("b", 2, loadPoint(1000, second, ms, 0), other)}
	}
	for _, c := range []struct {
		first, second store.Status
		want          string
	}{
		{ok, store.Void, "undecided 0 %, 1.00 ms to 1.00 ms; 2 and 1 runs decide nothing: it takes 3 each"},
		{store.Aborted, ok, "undecided 0 %, 1.00 ms to 1.00 ms; 2 and 1 runs decide nothing: it takes 3 each"},
		{store.Void, store.Void, "failed b void: why"},
		{store.Failed, ok, "failed b failed: why"},
		{store.Failed, store.Void, "failed b failed: why"},
	} {
		if got := change(t, "e2e_p99 > 10%", a, of(c.first, c.second)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s and %s: %s, want %s", c.first, c.second, got, c.want)
		}
	}
}

func TestAChangeOfCountsIsThatOfWhatThereWasPerRepetition(t *testing.T) {
	lost := func(n ...int64) []store.Record {
		var books []store.Books
		for _, n := range n {
			books = append(books, store.Books{Sent: 1000, Expected: 1000, Lost: n})
		}
		return counted(books...)
	}
	for _, c := range []struct {
		condition string
		a, b      []store.Record
		want      string
	}{
		{"lost > 10%", lost(0, 0, 0, 0), lost(0, 5000, 0, 0), "failed 0 (n=4) to 5000 (n=4)"},
		{"lost > 10%", lost(10, 10), lost(10, 10, 10), "passed 0 %, 20 (n=2) to 30 (n=3)"},
		{"lost > 49%", lost(10, 10), lost(15, 15, 15), "failed +50.0 %, 20 (n=2) to 45 (n=3)"},
		{"lost < -49%", lost(10, 10), lost(5), "failed −50.0 %, 20 (n=2) to 5 (n=1)"},
		{"lost > 0%", lost(0), lost(0, 0), "passed 0 %, 0 (n=1) to 0 (n=2)"},
		{"broker_rss > 0%", []store.Record{point("attached", 1, 0)}, []store.Record{point("x", 1, 0)}, "skipped broker_rss_bytes was not measured on both sides\nfailed"},
		{"broker_rss > 0%", []store.Record{point("x", 1, 0)}, []store.Record{point("attached", 1, 0)}, "skipped broker_rss_bytes was not measured on both sides\nfailed"},
	} {
		if got := change(t, c.condition, c.a, c.b); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.condition, got, c.want)
		}
	}
}

func TestVerdictsNameTheLoadTheyAreAbout(t *testing.T) {
	dead := curve("dead", 1, loadPoint(1000, store.OK, time.Millisecond, 0))
	dead.Status, dead.Reason = store.Failed, "it died"
	none := point("none", time.Millisecond, 0)
	none.Spec.Measure, none.Result = "curve", nil
	none.PointID = "none"
	plain := point("plain", time.Millisecond, 0)
	plain.Spec.Load.Rate = 1000
	records := []store.Record{dead, none, plain, curve("curved", 1, loadPoint(1000, store.OK, time.Millisecond, 0))}
	condition, err := gate.Parse("lost > 100")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"curved, 100 B, at-least-once, curve, rate 1k/s passed",
		"dead, 100 B, at-least-once, curve, rate 1k/s failed",
		"none, 100 B, at-least-once, curve skipped",
		"plain, 100 B, at-least-once, rate 1k/s passed",
	}
	var got []string
	for _, v := range gate.Judge(results.Of(records), []gate.Condition{condition}) {
		if v.Condition != "lost > 100" || v.Study != "s" {
			t.Errorf("%+v", v)
		}
		got = append(got, v.Point+" "+string(v.Outcome))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if endings := gate.Endings(results.Of(records)); len(endings) != len(want) || gate.Failures(endings) != 1 {
		t.Errorf("%+v", endings)
	}
}

func TestSidesThatAreMeantToDifferInTheirLoadAreComparedAllTheSame(t *testing.T) {
	a, b := point("x", 2*time.Millisecond, 0), point("x", 3*time.Millisecond, 0)
	a.Spec.Load.Rate, b.Spec.Load.Rate = 1000, 2000
	condition, err := gate.ParseChange("e2e_p99 > 10%")
	if err != nil {
		t.Fatal(err)
	}
	v := gate.Changes([]results.Pair{{Title: "twice the rate", A: results.Of(thrice(a)).Points, B: results.Of(thrice(b)).Points}}, []gate.Condition{condition}, false)
	if len(v) != 1 || v[0].Outcome != gate.Failed || v[0].Point != "twice the rate" || !strings.HasPrefix(v[0].Text, "+50.0 %, 2.00 ms to 3.00 ms") {
		t.Errorf("%+v", v)
	}
}

func TestAThresholdAboveALowerBoundIsUndecided(t *testing.T) {
	r := point("x", 50*time.Millisecond, 0)
	h := hist.New()
	h.RecordN(int64(50*time.Millisecond), 9000)
	h.RecordCensored(int64(10*time.Second), 1000)
	r.Spec.Measure, r.Result.Latency = "rate", store.Latency{EndToEnd: h.Snapshot()}
	for text, want := range map[string]gate.Outcome{
		"e2e_p50 > 51ms": gate.Passed, "e2e_p50 > 49ms": gate.Failed,
		"e2e_p99 > 20ms": gate.Failed, "e2e_p99 > 20s": gate.Undecided, "e2e_p99 < 20ms": gate.Passed, "e2e_p99 < 20s": gate.Undecided,
	} {
		condition, err := gate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		verdict := gate.Judge(results.Of([]store.Record{r}), []gate.Condition{condition})[0]
		if verdict.Outcome != want || strings.Contains(verdict.Text, "≥ 10.0 s") != strings.Contains(text, "p99") {
			t.Errorf("%s: %s (%s), want %s", text, verdict.Outcome, verdict.Text, want)
		}
		if want == gate.Undecided && !strings.Contains(verdict.Text, "messages never came, and the truth is at least 10.0 s") {
			t.Error(verdict.Text)
		}
	}
	exact := r
	exact.Result = &store.Result{}
	h = hist.New()
	h.RecordN(int64(50*time.Millisecond), 10_000)
	exact.Result.Latency = store.Latency{EndToEnd: h.Snapshot()}
	exact.PointID = "exact"
	change, err := gate.ParseChange("e2e_p99 > 10%")
	if err != nil {
		t.Fatal(err)
	}
	for want, pair := range map[gate.Outcome]results.Pair{
		gate.Failed:    {A: results.Of(thrice(exact)).Points, B: results.Of(thrice(r)).Points},
		gate.Passed:    {A: results.Of(thrice(r)).Points, B: results.Of(thrice(exact)).Points},
		gate.Undecided: {A: results.Of(thrice(r)).Points, B: results.Of(thrice(r)).Points},
	} {
		if v := gate.Changes([]results.Pair{pair}, []gate.Condition{change}, false)[0]; v.Outcome != want {
			t.Errorf("a change from %s to %s: %s (%s), want %s", pair.A[0].ID, pair.B[0].ID, v.Outcome, v.Text, want)
		}
	}
}
