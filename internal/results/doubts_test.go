package results_test

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// A doubt of the class too short forbids a conclusion, so it must not touch what it cannot have moved.
func TestDoubtsOf_AreThoseThatCanHaveMovedTheFigure(t *testing.T) {
	keys := []string{
		"throughput", "e2e_mean_ns", "e2e_min_ns", "e2e_p50_ns", "e2e_p99_ns", "e2e_max_ns", "total_s", "broker_cpu_s_per_million",
		"broker_cpu_user_pct", "broker_cpu_system_pct", "consumer_cpu_max_pct", "server_cpu_us_per_request", "lost", "failed",
	}
	const open, closed = study.MeasureRate, study.MeasurePeak
	for _, c := range []struct {
		kind      *doubt.Kind
		measure   string
		quantiles []float64
		want      string
	}{
		{doubt.FewSamples, open, []float64{0.99, 1}, "e2e_p99_ns e2e_max_ns"},
		{doubt.FewSamples, closed, []float64{0.99, 1}, "e2e_p99_ns e2e_max_ns"},
		{doubt.FewSamples, closed, nil, "e2e_p50_ns e2e_p99_ns e2e_max_ns"},
		{doubt.RestartLatency, closed, nil, "e2e_mean_ns e2e_min_ns e2e_p50_ns e2e_p99_ns e2e_max_ns"},
		{doubt.WarmupLatency, open, nil, "e2e_mean_ns e2e_min_ns e2e_p50_ns e2e_p99_ns e2e_max_ns"},
		{doubt.Untimed, closed, nil, "e2e_mean_ns e2e_min_ns e2e_p50_ns e2e_p99_ns e2e_max_ns"},
		{doubt.Pauses, open, []float64{0.99}, "e2e_mean_ns e2e_min_ns e2e_p99_ns"},
		{doubt.Pauses, closed, nil, "throughput e2e_mean_ns e2e_min_ns e2e_p50_ns e2e_p99_ns e2e_max_ns"},
		{doubt.Stolen, closed, []float64{0.99}, "throughput e2e_mean_ns e2e_min_ns e2e_p99_ns"},
		{doubt.CoarseRate, closed, nil, "throughput"},
		{doubt.IncompleteSearch, open, nil, "throughput"},
		{doubt.CoarseCPU, open, nil, strings.Join(keys[7:12], " ")},
		{doubt.Late, open, nil, "lost"},
		{doubt.NotSettled, open, nil, strings.Join(keys[:12], " ")},
		{doubt.WarmingUp, open, nil, strings.Join(keys[:12], " ")},
		{doubt.WarmupUnknown, open, nil, strings.Join(keys[:12], " ")},
		{doubt.FaultsMissed, open, nil, strings.Join(keys, " ")}, // what isn't lost without the fault is no evidence
		{doubt.SharedCores, open, nil, ""},
		{doubt.HandedOver, closed, nil, ""},
	} {
		r := store.Record{Spec: study.Defaults(), Doubts: []store.Doubt{store.DoubtOf(c.kind, "so")}}
		r.Spec.Measure, r.Doubts[0].Quantiles = c.measure, c.quantiles
		var touched []string
		for _, key := range keys {
			if len(results.MustMetric(key).DoubtsOf(r)) > 0 {
				touched = append(touched, key)
			}
		}
		if got := strings.Join(touched, " "); got != c.want {
			t.Errorf("%s of a %s at %v touches %q, want %q", c.kind.Code(), c.measure, c.quantiles, got, c.want)
		}
	}
}
