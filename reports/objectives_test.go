package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestAnObjectiveThatNothingWasMeasuredForIsNotCalledMissed(t *testing.T) {
	r := store.Record{PointID: "a", Repetition: 1, Status: store.OK, Result: &store.Result{}, Spec: study.Spec{
		Broker: "kafka", Measure: "count", Objectives: study.Objectives{"drain_rate": "> 5k/s"},
	}}
	verdicts := objectiveVerdicts(results.Of([]store.Record{r}))
	if len(verdicts) != 1 || verdicts[0].Finding != "Nothing was measured that could be judged by it." {
		t.Errorf("got %+v", verdicts)
	}
}

func TestAVerdictOnAnObjectiveThatThisVersionCannotReadSaysSo(t *testing.T) {
	r := store.Record{PointID: "a", Repetition: 1, Status: store.OK, Result: &store.Result{}, Spec: study.Spec{
		Broker: "kafka", Measure: "count", Objectives: study.Objectives{"regret": "< 3"},
	}}
	verdicts := objectiveVerdicts(results.Of([]store.Record{r}))
	if len(verdicts) != 1 || !strings.Contains(verdicts[0].Detail, "this version can't read the objective") {
		t.Errorf("got %+v", verdicts)
	}
}

func TestLoadsThatAVerdictDoesNotNameAreCounted(t *testing.T) {
	for outcome, finding := range map[gate.Outcome]string{gate.Failed: "Missed by 7 of 7 loads. ", gate.Undecided: "Undecided for 7 of 7 loads. "} {
		v := objectiveVerdict("e2e_p99 < 20ms", slices.Repeat([]gate.Verdict{{Outcome: outcome, Point: "kafka", Text: "21 ms"}}, 7))
		if !strings.HasPrefix(v.Finding, finding) || v.Detail != "The same holds for 2 more." {
			t.Errorf("%s: %+v", outcome, v)
		}
	}
}

func TestAnObjectiveIsKeptByAllLoadsOnlyIfAllWereJudged(t *testing.T) {
	passed, skipped := gate.Verdict{Outcome: gate.Passed, Point: "kafka"}, gate.Verdict{Outcome: gate.Skipped, Point: "nats"}
	for _, c := range []struct {
		verdicts []gate.Verdict
		want     string
	}{
		{[]gate.Verdict{passed, skipped, skipped}, "Kept by 1 of 3 loads."},
		{[]gate.Verdict{passed, passed, skipped}, "Kept by 2 of 3 loads."},
		{[]gate.Verdict{passed}, "Met."},
		{[]gate.Verdict{passed, passed}, "Kept by all 2 loads."},
		{[]gate.Verdict{{Outcome: gate.Failed, Point: "kafka", Text: "21 ms"}}, "Not met. kafka: 21 ms."},
		{[]gate.Verdict{passed, {Outcome: gate.Passed, Point: "nats", Text: "99 %", Beyond: 1}}, "Kept by all 2 loads, by the median, but not by every repetition."},
	} {
		if got := objectiveVerdict("e2e_p99 < 20ms", c.verdicts).Finding; got != c.want {
			t.Errorf("%d verdicts: %q, want %q", len(c.verdicts), got, c.want)
		}
	}
}

// What a verdict counts is what the table beside it marks.
func TestAVerdictOnAnObjectiveCountsTheRowsOfTheTable(t *testing.T) {
	ok, void, failed := store.OK, store.Void, store.Failed
	for name, c := range map[string]struct {
		whole  store.Status
		rates  []store.Status
		bound  string
		want   string
		marked int
	}{
		"missed":              {ok, []store.Status{ok, ok, ok}, "< 1us", "Missed by 3 of 3 loads.", 3},
		"kept":                {ok, []store.Status{ok, ok, ok}, "< 1h", "Kept by all 3 loads.", 0},
		"one void, missed":    {ok, []store.Status{ok, void, ok}, "< 1us", "Missed by 2 of 3 loads.", 2},
		"one failed, kept":    {ok, []store.Status{ok, failed, ok}, "< 1h", "Kept by 2 of 3 loads.", 0},
		"all void":            {void, []store.Status{void, void, void}, "< 1us", "Nothing was measured that could be judged by it.", 0},
		"void by another one": {void, []store.Status{ok, void, void}, "< 1us", "Nothing was measured that could be judged by it.", 0},
		"all failed":          {failed, []store.Status{failed, failed, void}, "< 1us", "Nothing was measured that could be judged by it.", 0},
	} {
		r := curved(1)
		r.Spec.Objectives, r.Status, r.Reason, r.Result.Sustainable = study.Objectives{"e2e_p50": c.bound}, c.whole, "all rates", nil
		for i, status := range c.rates {
			r.Result.Curve[i].Status, r.Result.Curve[i].Pauses = status, nil // no part of the latency is the generator's
		}
		d := build(t, "summary", []store.Record{r})
		marked := 0
		for _, row := range d.Tables()[0].Rows {
			if strings.Contains(row["status"].Text, "objective missed") {
				marked++
			}
		}
		finding := objectiveVerdicts(results.Of([]store.Record{r}))[0].Finding
		if !strings.HasPrefix(finding, c.want) || marked != c.marked {
			t.Errorf("%s: %q, and %d rows missed it", name, finding, marked)
		}
	}
}
