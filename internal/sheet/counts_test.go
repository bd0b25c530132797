package sheet

import (
	"testing"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

// The summary counts what a failed repetition lost; a column "lost (all repetitions)" with 0 would contradict it.
func TestTheSheetCountsWhatAFailedRepetitionLost(t *testing.T) {
	var records []store.Record
	for _, r := range storetest.Demo() {
		if r.Spec.Measure == "rate" && r.Spec.Broker == "jetstream" { // one of three lost 3 messages
			records = append(records, r)
		}
	}
	f := opened(t, written(t, records))
	for column, want := range map[string]float64{"lost": 3, "lost after ack": 3} {
		if got, _ := figure(t, f, f.GetSheetList()[0], column, 2); got != want {
			t.Errorf("%s: %v, want %v", column, got, want)
		}
	}
	points := results.Of(records).Points
	for _, l := range append(points[0].MeasuredLoads(), points[0].LoadPoints()...) {
		if s := l.Over(results.MustMetric(results.KeyLost)); s.Median != 3 || s.N != 3 {
			t.Errorf("%s: lost %+v, want 3 in 3 repetitions", l.RowTitle, s)
		}
		if s := l.Over(results.MustMetric(results.KeyEndToEndP99)); s.N != 2 {
			t.Errorf("%s: the p99 is of %d repetitions, want those that ended ok", l.RowTitle, s.N)
		}
	}
}

// A rate of a curve that failed in one repetition is counted in the row of the others.
func TestTheSheetCountsWhatARateOfACurveLost(t *testing.T) {
	var records []store.Record
	for _, r := range storetest.Demo() {
		if r.Spec.Measure != "curve" || r.Spec.Broker != "kafka" || r.Spec.MessageSize[0].Size != 100 {
			continue
		}
		result := *r.Result
		result.Curve = append([]store.CurvePoint(nil), result.Curve...)
		if r.Repetition == 2 {
			result.Curve[1].Status, result.Curve[1].Books.Lost = store.Failed, 7
		}
		r.Result = &result
		records = append(records, r)
	}
	for i, l := range results.Of(records).Points[0].MeasuredLoads() {
		want := []float64{0, 7, 0, 0, 0, 0}[i]
		if s := l.Over(results.MustMetric(results.KeyLost)); s.Median != want || s.N != 3 {
			t.Errorf("%s: lost %+v, want %v in 3 repetitions", l.RowTitle, s, want)
		}
	}
}
