package sheet

import (
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

func TestEachRateOfACurveHasItsOwnCountsAndPausesInTheSheet(t *testing.T) {
	var records []store.Record
	for _, r := range storetest.Demo() {
		if r.Spec.Measure != "curve" || r.Spec.Broker != "kafka" {
			continue
		}
		result := *r.Result
		result.Curve = append([]store.CurvePoint(nil), result.Curve...)
		for i := range result.Curve {
			late := hist.New()
			late.Record(int64(i+1) * 1e6)
			l := &result.Curve[i]
			l.Books.Due, l.Books.Unsent, l.Books.Lost = 1000, int64(10*i), int64(i)
			l.Pauses = &store.Pauses{Late: late.Snapshot(), LongestNs: int64(i+r.Repetition) * 1e6, LongestOffsetNs: int64(r.Repetition) * 1e9, StolenSeconds: 0.5}
		}
		r.Result = &result
		records = append(records, r)
	}
	f := opened(t, written(t, records))
	sheet := f.GetSheetList()[1]
	for _, name := range f.GetSheetList() {
		if rows, err := f.GetRows(name); err == nil && len(rows) > 2 && rows[0][0] == "label" {
			sheet = name
		}
	}
	const repetitions = 3
	for i := range 6 { // below the header; the lines of another size follow
		for column, want := range map[string]float64{
			"due": 1000 * repetitions, "never sent": float64(10 * i * repetitions), "lost": float64(i * repetitions),
			"own pauses max": float64(i + repetitions), "at": repetitions, "stolen": 0.5,
		} {
			if got, _ := figure(t, f, sheet, column, i+2); got != want {
				t.Errorf("rate %d, %s: %v, want %v", i+1, column, got, want)
			}
		}
	}
}

// A pause of less than 5 ms is no standstill: it has a length, but when it began is not stored.
func TestAPauseThatIsNoStandstillHasNoBegin(t *testing.T) {
	late := hist.New()
	late.Record(3e6)
	p := &store.Pauses{Late: late.Snapshot()}
	r := store.Record{Result: &store.Result{Measurement: store.Measurement{Pauses: p}}}
	row := loadRow{LoadPoint: results.LoadPoint{Records: []store.Record{r}}}
	if length, begin := largestOf(results.KeyPauseMax)(row), startOfLongestPause(row); length != 3.0 || begin != nil {
		t.Errorf("the longest pause took %v ms from %v s on, want 3 ms from an unknown time on", length, begin)
	}
}
