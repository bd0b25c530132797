package page

import (
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/results"
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
	var list runList
	list.add(candidate{load: "rate 1k/s", record: r}, 100)
	if got := list.Runs[0].Phases; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAFigureHoldsTheClocksBound(t *testing.T) {
	for want, s := range map[string]results.Summary{
		"50":           {N: 1, Median: 50, Low: 50, High: 50},
		"[50,47,53,1]": {N: 1, Median: 50, Low: 50, High: 50, ClockBound: 3},
		"[50,45,55,4]": {N: 4, Median: 50, Low: 48, High: 52, ClockBound: 3},
		"null":         {ClockBound: 3},
	} {
		if got, err := (summary{s}).MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%+v: %s, %v; want %s", s, got, err, want)
		}
	}
}
