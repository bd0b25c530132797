package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// step is an offered rate, the rate that came through, both in messages per second, and the mean latency.
type step struct {
	rate, through float64
	mean          time.Duration
	status        store.Status
}

func TestTheKneeIsTheLastRateBeforeTheMeanLatencyJumps(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	for name, c := range map[string]struct {
		steps    []step
		rate, at float64 // 0: none
	}{
		"none":          {},
		"a single rate": {steps: []step{{1000, 1000, ms, ""}}},
		"never reached": {steps: []step{{1000, 1000, ms, ""}, {2000, 2000, 2 * ms, ""}}},
		// 4.1: 6,560/s at 5.94 ms, then a cluster far above.
		"figure 4.1":       {steps: []step{{1000, 1000, 2 * ms, ""}, {4000, 4000, 4 * ms, ""}, {6560, 6560, 5940 * us, ""}, {6800, 6600, 150 * ms, store.Failed}, {7000, 6590, 180 * ms, ""}}, rate: 6560, at: 6800},
		"in another order": {steps: []step{{4000, 2000, 900 * ms, ""}, {1000, 1000, ms, ""}, {2000, 1990, 3 * ms, ""}}, rate: 1990, at: 4000},
		// As measured: a mean in sub-milliseconds at a twentieth of the capacity is no level that a jump starts from.
		"a climb of sub-milliseconds":        {steps: []step{{1080, 1080, 305 * us, ""}, {10_800, 10_800, 1580 * us, ""}, {19_440, 19_400, 2600 * us, ""}, {27_000, 22_000, 150 * ms, store.Failed}}, rate: 19_400, at: 27_000},
		"a climb without saturation":         {steps: []step{{1080, 1080, 305 * us, ""}, {10_800, 10_800, 1580 * us, ""}, {21_600, 21_500, 4 * ms, ""}}},
		"a queue that all leave in time":     {steps: []step{{1000, 1000, ms, ""}, {2000, 1980, 50 * ms, ""}, {3000, 2100, 200 * ms, ""}}, rate: 1980, at: 3000},
		"high at first, as Kafka":            {steps: []step{{10, 10, 20 * ms, ""}, {1000, 1000, 4 * ms, ""}, {5000, 5000, 6 * ms, ""}, {9000, 7000, 150 * ms, ""}}, rate: 5000, at: 9000},
		"a hiccup at one rate":               {steps: []step{{1000, 1000, ms, ""}, {2000, 2000, 40 * ms, ""}, {3000, 3000, 2 * ms, ""}, {4000, 3500, 100 * ms, ""}}, rate: 3000, at: 4000},
		"microseconds are no jump":           {steps: []step{{1000, 1000, 50 * us, ""}, {2000, 2000, 600 * us, ""}}},
		"the producer is slowed (3.4.1)":     {steps: []step{{1000, 1000, ms, ""}, {2000, 1800, 2 * ms, ""}, {4000, 1750, 2 * ms, ""}}, rate: 1800},
		"what the generator limited is left": {steps: []step{{1000, 1000, ms, ""}, {2000, 2000, ms, ""}, {3000, 1500, 400 * ms, store.Void}}},
	} {
		var levels []store.CurvePoint
		for _, s := range c.steps {
			h := hist.New()
			h.Record(int64(s.mean))
			l := store.CurvePoint{Rate: s.rate, Status: s.status}
			l.ReceiveRate, l.PublishRate, l.Latency.EndToEndService, l.Latency.Service = 2*s.through, s.through, h.Snapshot(), h.Snapshot()
			levels = append(levels, l)
		}
		for _, subscriptions := range []int{2, 0} {
			var got store.Knee
			if k := knee(levels, subscriptions); k != nil {
				got = *k
			}
			if want := (store.Knee{Rate: c.rate, JumpedAt: c.at}); got != want {
				t.Errorf("%s, %d subscriptions: %+v, want %+v", name, subscriptions, got, want)
			}
		}
	}
}
