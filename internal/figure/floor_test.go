package figure

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// paused gives every record a machine that woke 0.1 ms late, one time in a hundred 20 ms.
func paused(records []store.Record) []store.Record {
	h := hist.New()
	for i := range 1000 {
		late := 100 * time.Microsecond
		if i%100 == 0 {
			late = 20 * time.Millisecond
		}
		h.Record(int64(late))
	}
	out := slices.Clone(records)
	for i := range out {
		if out[i].Result != nil {
			result := *out[i].Result
			result.Pauses = &store.Pauses{Late: h.Snapshot(), LongestNs: int64(20 * time.Millisecond)}
			out[i].Result = &result
		}
	}
	return out
}

func TestPercentilesStandOnTheFloorOfTheMachinesOwnPauses(t *testing.T) {
	records := chosen(t, "percentiles")
	said := func(records []store.Record) bool {
		f, err := Build("percentiles", results.Of(records), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(texts(t, written(t, f, "svg")), func(s string) bool { return strings.Contains(s, "own pauses of this machine") })
	}
	if said(records) {
		t.Error("a floor of pauses that nobody watched")
	}
	if !said(paused(records)) {
		t.Error("the floor has no place in the legend")
	}
	f := floorOf(results.Distributions(results.Of(paused(records)).Points, results.LatencyKinds[0]))
	for _, m := range f.marks { // p90 lies at 10, p99 at 100
		want := 0.1e6
		if m.x > 100.001 {
			want = 20e6
		}
		if m.x < 99 || m.x > 101 {
			if math.Abs(m.y-want) > 0.01*want {
				t.Errorf("the floor at %g is %g, want %g", 1-1/m.x, m.y, want)
			}
		}
	}
	e := extent{x: valueRange{low: 1, high: 1000}, y: valueRange{low: 5e6, high: 50e6}}
	if f.widen(&e.y); e.y.low != 0.5e6 || e.y.high != 50e6 {
		t.Errorf("the axis goes from %g to %g, want a tenth of the lowest latency to the highest", e.y.low, e.y.high)
	}
}

// Latencies of 0 have no place on a logarithmic axis, so that the floor is all there is to draw.
func TestAFloorBelowNoLatencyIsDrawn(t *testing.T) {
	records := paused(chosen(t, "percentiles"))
	floor := floorOf(results.Distributions(results.Of(records).Points, results.LatencyKinds[0]))
	e := newExtent(logarithmic)
	if floor.widen(&e.y); math.IsInf(e.y.low, 0) || e.y.low > e.y.high {
		t.Fatalf("the axis goes from %g to %g", e.y.low, e.y.high) // its labels would have no end
	}
	zero := hist.New()
	zero.Record(0)
	for _, r := range records {
		if r.Result != nil {
			r.Result.Latency.EndToEnd = zero.Snapshot()
		}
	}
	f, err := Build("percentiles", results.Of(records), Options{})
	if err != nil {
		t.Fatal(err)
	}
	written(t, f, "svg")
}
