package results

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/store"
)

// The oracle gathers every message by the second in which it came; ticks end half a second apart, some milliseconds late.
func TestTheMeanOfSecondsWeighsEverySecondInWhichSomethingCameAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var series []store.Tick
		bySecond := map[int][]float64{}
		for i := range rapid.IntRange(0, 20).Draw(t, "ticks") {
			tick := store.Tick{
				OffsetNs: int64(i+1)*5e8 + rapid.Int64Range(0, 40e6).Draw(t, "late"), Phase: rapid.SampledFrom([]string{"warmup", "measure", "measure", "measure", "drain"}).Draw(t, "phase"),
				FromSendNs: float64(rapid.IntRange(1, 1e6).Draw(t, "mean")), FromSendCount: int64(rapid.IntRange(0, 3).Draw(t, "messages")),
			}
			series = append(series, tick)
			if tick.Phase == "measure" {
				for range tick.FromSendCount {
					bySecond[i/2] = append(bySecond[i/2], tick.FromSendNs)
				}
			}
		}
		want, seconds := 0.0, 0.0
		for _, values := range bySecond {
			sum := 0.0
			for _, v := range values {
				sum += v
			}
			want, seconds = want+sum/float64(len(values)), seconds+1
		}
		got := MustMetric(KeyMeanOfSeconds).Of(store.Record{Result: &store.Result{Measurement: store.Measurement{Series: series}}})
		if want /= seconds; math.Abs(got-want) > 1e-6*want || math.IsNaN(got) != (seconds == 0) {
			t.Fatalf("%g, want %g of %v", got, want, series)
		}
	})
	if got := MustMetric(KeyMeanOfSeconds).Of(store.Record{}); !math.IsNaN(got) {
		t.Errorf("of nothing: %g", got)
	}
}

func TestAKindOfMeasurementThatNoMetricStandsForHasNoHeadline(t *testing.T) {
	for measure, want := range map[string]string{"rate": "e2e_p99_ns", "peak": "throughput", "curve": "sustainable_low", "": "", "other": ""} {
		if m, ok := Headline(measure); m.Key != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", measure, m.Key, ok, want)
		}
	}
}
