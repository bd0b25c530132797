package page

import (
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
)

func TestPhasesEndWhereTheyEndedNotAtTheirLastSample(t *testing.T) {
	r := store.Record{Result: &store.Result{Measurement: store.Measurement{Seconds: 3}}}
	for _, tick := range []struct {
		at    float64
		phase string
	}{{-1.1, "warmup"}, {-0.6, "warmup"}, {0.1, "measure"}, {2.6, "measure"}, {3.1, "drain"}, {3.6, "drain"}} {
		r.Result.Series = append(r.Result.Series, store.Tick{OffsetNs: int64(tick.at * 1e9), Phase: tick.phase})
	}
	want := []phase{{"warmup", 0}, {"measure", 3}, {"drain", 3.6}}
	if got := (&data{}).course(loadRun{load: "rate 1k/s", record: r}, 100).Phases; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
