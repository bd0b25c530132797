package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

// resolution is the width of a histogram's bucket, as a share of its lowest value.
const resolution = 1.0 / 256

// clocks are those of up to eight agents: none shows the same time, and they drift apart by up to 100 ns in each ms.
var clocks = []skewed{
	{}, {-10e9, 50e-6}, {200e6, -50e-6}, {-30e9, 0}, {-40e9, 20e-6}, {100e6, 50e-6}, {-60e9, -50e-6}, {-70e9, -10e-6},
}

// bookkeepers are n agents in this process that book traffic by clocks of their own, or all by this process's.
func bookkeepers(t *testing.T, n int, of *traffic, apart bool) agent.Agent {
	t.Helper()
	c := control(t)
	known := &clocksOf{byID: map[int]skewed{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, n)
	for i := range n {
		b := &bookkeeper{traffic: of, clocks: known}
		o := fleet.Options{Join: c.Join, Token: c.Token, Name: fmt.Sprint("agent", i), Build: "b1", Worker: b, Say: func(string, ...any) {}}
		if !apart || i == 0 {
			go func() { ended <- fleet.Join(ctx, o) }()
			continue
		}
		b.clock = clocks[i]
		go func() { ended <- fleet.JoinElsewhere(ctx, o, b.clock.compare) }()
	}
	t.Cleanup(func() {
		cancel()
		for range n {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	f, err := gather(t, c, n, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return f.Agent()
}

// Latencies that are known in advance have the same quantiles on any number of agents: bucket by bucket where every latency is taken by one
// clock, or all agents have the same one; else within the histogram's resolution and the clocks' bound.
func TestQuantilesAreTheSameOnAnyNumberOfAgents(t *testing.T) {
	t.Parallel()
	testkit.NotShort(t) // agents that share two cores with the race detector's packages are not heard for seconds
	load := worker.Load{Warmup: worker.Warmup{For: 100 * time.Millisecond}, Duration: 400 * time.Millisecond, Drain: time.Second}
	for name, c := range map[string]struct {
		traffic *traffic
		spread  bool // producers and consumers of one topic on different agents
		apart   bool // the agents' clocks
	}{
		"each topic on one agent, clocks apart": {newTraffic(8, 1, 2, 1, 4000), false, true},
		"one topic on all agents, one clock":    {newTraffic(1, 8, 2, 4, 4000), true, false},
		"one topic on all agents, clocks apart": {newTraffic(1, 8, 2, 4, 4000), true, true},
	} {
		c.traffic.lossEvery = 1000
		alone := &bookkeeper{traffic: c.traffic, hasty: true}
		if _, err := alone.Prepare(t.Context(), agent.Plan{Worker: c.traffic.plan}); err != nil {
			t.Fatal(err)
		}
		at := load
		at.Start = clock.Now()
		want, _ := alone.Run(t.Context(), at)
		sorted := c.traffic.sorted()
		if b := want.Measured; b.Sent != 4000 || b.Received != int64(len(sorted)) || b.Lost != 8 || b.Duplicated+b.Reordered+b.Corrupted+b.Stale+want.Warmup.Sent != 0 {
			t.Fatalf("%s: %+v", name, b)
		}
		within(t, name+", one process", want.Histograms.EndToEnd, sorted, 0, 0)
		for _, n := range []int{1, 2, 4, 8} {
			t.Run(fmt.Sprint(name, ", ", n, " agents"), func(t *testing.T) {
				t.Parallel()
				a := bookkeepers(t, n, c.traffic, c.apart)
				p := plan(t, 1)
				p.Worker, p.Place.Spread = c.traffic.plan, c.spread
				if _, err := a.Prepare(t.Context(), p); err != nil {
					t.Fatal(err)
				}
				for range 2 { // in the second trial the clocks' drift is foreseen
					got, _ := a.Run(t.Context(), load)
					if got.Err != nil || got.Measured != want.Measured {
						t.Fatalf("%v: %+v; want %+v", got.Err, got.Measured, want.Measured)
					}
					between := n > 1 && c.spread && c.apart // clocks
					if (got.ClockBound > 0) != between || got.Early != (measure.Early{}) && !got.Early.Possible(got.ClockBound) {
						t.Errorf("bound %d, early %+v", got.ClockBound, got.Early)
					}
					if between {
						within(t, "latency", got.Histograms.EndToEnd, sorted, got.ClockBound, 1e-4)
						t.Logf("latencies are known ± %s", time.Duration(got.ClockBound))
						got.Histograms.EndToEnd, got.Histograms.EndToEndService = want.Histograms.EndToEnd, want.Histograms.EndToEndService
					}
					if c.spread && !c.apart || between {
						same(t, got.Histograms, want.Histograms)
						continue
					}
					within(t, "latency", got.Histograms.EndToEnd, sorted, 0, 1e-4)
				}
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// same compares histograms bucket by bucket.
func same(t *testing.T, got, want measure.Histograms) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the histograms differ:\n%+v\n%+v", got, want)
	}
}

// within compares quantiles with those of the sorted latencies: each may be higher by the histogram's resolution, and off by bound, ns, and by the
// share that the clock drifts.
func within(t *testing.T, what string, h hist.Snapshot, sorted []int64, bound int64, drift float64) {
	t.Helper()
	if h.Count() != int64(len(sorted)) {
		t.Errorf("%s: %d values; want %d", what, h.Count(), len(sorted))
	}
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
		exact := float64(sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)])
		off := float64(bound) + drift*exact + 1
		if got := float64(h.Quantile(q)); got < exact-off || got > (exact+off)*(1+resolution) {
			t.Errorf("%s: quantile %g is %.0f ns; want %.0f ± %.0f", what, q, got, exact, off)
		}
	}
}
