package results

import (
	"testing"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// A curve that ended before its first rate is a load point as any other that came to nothing: without one, no table would hold it.
func TestACurveThatEndedBeforeItsFirstRateHasALoadPoint(t *testing.T) {
	for _, status := range []store.Status{store.Failed, store.Void, store.Aborted, store.Refused} {
		for name, result := range map[string]*store.Result{"nothing measured": nil, "no rate": {}} {
			r := store.Record{PointID: "p", Repetition: 1, Status: status, Reason: "the broker ended", Spec: study.Spec{Broker: "kafka", Measure: study.MeasureCurve}, Result: result}
			loads := Of([]store.Record{r}).Points[0].LoadPoints()
			if len(loads) != 1 || loads[0].RowTitle != "curve" || loads[0].Status != status || loads[0].Why.Text != "the broker ended" {
				t.Errorf("%s, %s: %+v", status, name, loads)
			}
		}
	}
}
