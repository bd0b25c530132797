package reports

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

func TestASearchIsToldByWhatPassedAndWhatFailed(t *testing.T) {
	for want, s := range map[string]store.Sustainable{
		"no rate was found": {},
		"no rate passed, the lowest that failed was 5k/s": {High: 5000},
		"at least 5k/s, held 20s, no rate failed":         {Low: 5000, HeldNs: 20e9},
		"5–6k/s, held 20s":                                {Low: 5000, High: 6000, HeldNs: 20e9},
	} {
		if got := results.BoundsText(s.Low, s.High, s.HeldNs); got != want {
			t.Errorf("%+v is told as %q, want %q", s, got, want)
		}
	}
	if got := endingText(store.Record{Status: store.OK}) + endingText(store.Record{Status: store.Void, Reason: "late"}); got != "okvoid (late)" {
		t.Errorf("endings %q", got)
	}
	text := string(rendered(t, build(t, "trials", atRate("kafka", 1)), "markdown", 0))
	if !strings.Contains(text, "No record holds a search") || !strings.Contains(text, "1 repetition of 1 point") {
		t.Errorf("without a search: %s", text)
	}
}

func TestATrialIsARowOfItsFigures(t *testing.T) {
	trial := store.Trial{
		Kind: "short", Rate: 1, Verdict: "fail", Reason: "r", PublishRate: 2, ReceiveRate: 3, BacklogSlope: 4, EndToEndP50: 5, EndToEndP99: 6, Seconds: 7,
	}
	table := trialTable("s", &store.Sustainable{Trials: []store.Trial{trial, trial}})
	want := map[string]any{
		"search": "s", "trial": 2.0, "kind": "short", "rate": 1.0, "verdict": "fail", "publish_rate": 2.0, "receive_rate": 3.0, "backlog_slope": 4.0,
		"e2e_p50_ns": 5.0, "e2e_p99_ns": 6.0, "seconds": 7.0, "reason": "r",
	}
	for _, c := range table.Columns {
		cell := table.Rows[1][c.Key]
		if got := any(cell.Number); cell.Kind == document.Words && cell.Text != want[c.Key] || cell.Kind == document.Figure && got != want[c.Key] || cell.Kind == document.Blank {
			t.Errorf("%s is %+v, want %v", c.Key, cell, want[c.Key])
		}
	}
	for slope, want := range map[float64]float64{0.0099: 0, -0.0099: 0, 0.02: 0.02, -0.02: -0.02} {
		if got := trialTable("s", &store.Sustainable{Trials: []store.Trial{{BacklogSlope: slope}}}).Rows[0]["backlog_slope"].Number; got != want {
			t.Errorf("a slope of %v is shown as %v", slope, got)
		}
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

// A stranger's search may have many goals and many trials.
func TestTheVerdictsOfTrialsAreAsManyAsAPersonReads(t *testing.T) {
	for _, c := range []struct{ goals, trials, columns int }{{20, 1000, 20}, {2000, 1000, mostCells / 1000}, {30, 20_000, mostCells / 20_000}} {
		search := &store.Sustainable{Goals: make([]store.GoalResult, c.goals), Trials: make([]store.Trial, c.trials)}
		n := 0
		for _, column := range trialTable("a", search).Columns {
			if strings.HasPrefix(column.Key, "verdict") {
				n++
			}
		}
		if n != c.columns {
			t.Errorf("%d columns for %d goals of %d trials, want %d", n, c.goals, c.trials, c.columns)
		}
	}
}
