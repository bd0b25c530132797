package results

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// The oracle gathers every message by the second in which it came; ticks end half a second apart, some milliseconds late.
func TestTheMeanOfSecondsWeighsEverySecondInWhichSomethingCameAlike(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
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

// What is computed from decimal numbers has no more digits than they: 0.15 s and 0.08 s of 1,000 messages are 230 s per million.
func TestFiguresHaveNoBinaryNoise(t *testing.T) {
	used := func(user, system float64, messages int64) store.Record {
		return store.Record{Result: &store.Result{Measurement: store.Measurement{Cost: store.Cost{
			BrokerKnown: true, BrokerUserSeconds: user, BrokerSystemSeconds: system, Messages: messages,
			Shares: &store.Shares{BrokerUser: 0.07, BrokerSystem: 0.29},
		}}}}
	}
	cpu := MustMetric(KeyBrokerCPU)
	if got := cpu.Of(used(0.15, 0.08, 1000)); got != 230 {
		t.Errorf("%v s per million, want 230", got)
	}
	if got := MustMetric(KeyBrokerCPUUser).Of(used(1, 1, 1)); got != 7 {
		t.Errorf("%v %% of a core, want 7", got)
	}
	if got := cpu.Over([]store.Record{used(0.1, 0, 1e6), used(0.2, 0, 1e6)}).Median; got != 0.15 {
		t.Errorf("%v s per million between 0.1 and 0.2", got)
	}
	if got := decimal(1<<53 - 1); got != 1<<53-1 {
		t.Errorf("a whole number became %v", got)
	}
}
