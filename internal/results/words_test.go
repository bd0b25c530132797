package results

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
)

func TestAShortNameIsTheKeyWithoutItsUnit(t *testing.T) {
	for key, want := range map[string]string{
		"e2e_p99_ns": "e2e_p99", "broker_cpu_s_per_million": "broker_cpu", "broker_rss_bytes": "broker_rss", "total_s": "total", "broker_cpu_user_pct": "broker_cpu_user",
		"sustainable_low": "sustainable", "publish_mb_s": "publish_mb_s", "lost": "lost",
	} {
		if got := MustMetric(key).Short(); got != want {
			t.Errorf("%s is %s in short, want %s", key, got, want)
		}
	}
	seen := map[string]string{}
	for _, m := range Metrics {
		short := m.Short()
		if other, twice := seen[short]; twice || !strings.HasPrefix(m.Key, short) {
			t.Errorf("%s and %s are both %s", m.Key, other, short)
		}
		seen[short] = m.Key
		for _, name := range []string{short, m.Key} {
			if got, err := MetricNamed(name); err != nil || got.Key != m.Key {
				t.Errorf("%s is %s, %v", name, got.Key, err)
			}
		}
	}
}

func TestAPhaseEndsWithItsLastSample(t *testing.T) {
	r := store.Record{Result: &store.Result{Measurement: store.Measurement{Seconds: 5}}}
	at := func(phase string, seconds ...float64) (ticks []store.Tick) {
		for _, s := range seconds {
			ticks = append(ticks, store.Tick{Phase: phase, OffsetNs: int64(s * float64(time.Second))})
		}
		return ticks
	}
	for name, c := range map[string]struct {
		ticks []store.Tick
		want  []Phase
	}{
		"nothing":         {nil, nil},
		"all phases":      {slices.Concat(at("warmup", -2, -1), at("measure", 1, 2, 4.5), at("drain", 5.5, 6)), []Phase{{"warmup", 0}, {"measure", 5}, {"drain", 6}}},
		"sent for longer": {at("measure", 1, 7), []Phase{{"measure", 7}}},
		"one sample each": {slices.Concat(at("warmup", -1), at("drain", 6)), []Phase{{"warmup", 0}, {"drain", 6}}},
	} {
		r.Result.Series = c.ticks
		if got := Phases(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
