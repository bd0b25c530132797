package reports

import (
	"testing"

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
