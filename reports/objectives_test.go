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

func TestLoadsThatAVerdictDoesNotNameAreCounted(t *testing.T) {
	for outcome, finding := range map[gate.Outcome]string{gate.Failed: "Missed by 7 of 7 loads. ", gate.Undecided: "Undecided for 7 of 7 loads. "} {
		v := objectiveVerdict("e2e_p99 < 20ms", slices.Repeat([]gate.Verdict{{Outcome: outcome, Point: "kafka", Text: "21 ms"}}, 7))
		if !strings.HasPrefix(v.Finding, finding) || v.Detail != "The same holds for 2 more." {
			t.Errorf("%s: %+v", outcome, v)
		}
	}
}
