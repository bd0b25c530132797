package fleet_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

// wrongly is two agents that work as one, of which the second takes its clock for another one than the first's. What it measures is off
// by wrong, and said to be known to so much more than it is.
func wrongly(t *testing.T, wrong func() time.Duration, more time.Duration) agent.Agent {
	t.Helper()
	c := control(t)
	join(t, c, "left", "b1")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- fleet.JoinElsewhere(ctx, fleet.Options{Join: c.Join, Token: c.Token, Name: "right", Build: "b1", Say: t.Logf},
			func(ctx context.Context, address, token string) (clock.Offset, error) {
				o, err := clock.Compare(ctx, address, token)
				o.Ns -= int64(wrong())
				o.Bound += int64(more)
				return o, err
			})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	f, err := gather(t, c, 2, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return f.Agent()
}

// bothWays is a plan of which each agent sends to the other one.
func bothWays(t *testing.T, latency time.Duration) agent.Plan {
	t.Helper()
	p := spread(t, 2, map[string]any{"latency": latency.String()})
	p.Worker.Topology.Subscriptions = p.Worker.Topology.Subscriptions[:1]
	p.Worker.Producers = []worker.Producer{{ID: 0, Topic: 0}, {ID: 1, Topic: 1}}
	p.Worker.Consumers = append(p.Worker.Consumers[:0:0], p.Worker.Consumers[0], p.Worker.Consumers[2])
	return p
}

func TestALatencyBetweenClocksIsKnownToItsBound(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	const latency = 40 * time.Millisecond
	for name, c := range map[string]struct{ wrong, more time.Duration }{
		"right": {0, 0}, "ahead": {15 * time.Millisecond, 16 * time.Millisecond}, "behind": {-15 * time.Millisecond, 16 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			a := wrongly(t, func() time.Duration { return c.wrong }, c.more)
			if _, err := a.Prepare(t.Context(), bothWays(t, latency)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the drift that was seen in the first is foreseen for the second
				out, parts := a.Run(t.Context(), worker.Load{Schedule: rate(t, 1000), Warmup: worker.Warmup{For: 100 * time.Millisecond}, Duration: 400 * time.Millisecond, Drain: 10 * time.Second})
				if errors.Is(out.Err, worker.ErrLate) {
					testkit.Undecided(t, "the machine stood still for half a second: %v", out.Err)
				}
				b := out.Measured
				if out.Err != nil || b.Sent != 400 || b.Received != 400 || b.Lost+b.Duplicated+b.Reordered+b.Corrupted+b.Stale != 0 || out.Unordered != 0 {
					t.Fatalf("%v: %+v, %d unordered", out.Err, b, out.Unordered)
				}
				if out.ClockBound <= int64(c.more) || !out.Early.Possible(out.ClockBound) {
					t.Errorf("bound %d, early %+v", out.ClockBound, out.Early)
				}
				// No message took less than the broker's latency, though every second one is off by wrong, less or more.
				least := out.Histograms.EndToEnd.Quantile(0)
				if exact := int64(latency) * 99 / 100; least+out.ClockBound < exact {
					t.Errorf("the quickest message took %s ± %s; it can't have taken less than %s", time.Duration(least), time.Duration(out.ClockBound), latency)
				}
				for _, p := range parts {
					other := strings.HasPrefix(p.Name, "right ")
					if off := p.Offset - int64(c.wrong); other && (p.Bound < int64(c.more) || max(off, -off) > p.Bound) || !other && (p.Bound != 0 || p.Offset != 0) {
						t.Errorf("%s: offset %d ± %d", p.Name, p.Offset, p.Bound)
					}
				}
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAWrongClockIsFoundOut(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	load := worker.Load{Schedule: rate(t, 1000), Duration: 300 * time.Millisecond, Drain: 10 * time.Second}
	t.Run("always", func(t *testing.T) {
		a := wrongly(t, func() time.Duration { return time.Second }, 0)
		if _, err := a.Prepare(t.Context(), bothWays(t, 0)); err != nil {
			t.Fatal(err)
		}
		out, _ := a.Run(t.Context(), load)
		if out.Err != nil || out.Early.Possible(out.ClockBound) || out.Early.Deliveries == 0 || out.Measured.Received != 300 {
			t.Errorf("%v: early %+v, bound %s; %+v", out.Err, out.Early, time.Duration(out.ClockBound), out.Measured)
		}
	})
	t.Run("behind", func(t *testing.T) { // it is told a start that is over
		a := wrongly(t, func() time.Duration { return -time.Minute }, 0)
		if _, err := a.Prepare(t.Context(), bothWays(t, 0)); err != nil {
			t.Fatal(err)
		}
		if out, _ := a.Run(t.Context(), load); !errors.Is(out.Err, worker.ErrLate) {
			t.Errorf("%v", out.Err)
		}
	})
	t.Run("set in a trial", func(t *testing.T) {
		var asked atomic.Int64
		a := wrongly(t, func() time.Duration { return time.Duration(asked.Add(1)) * time.Second }, 0)
		if _, err := a.Prepare(t.Context(), bothWays(t, 0)); err != nil {
			t.Fatal(err)
		}
		out, _ := a.Run(t.Context(), load)
		if !errors.As(out.Err, new(*agent.ErrClock)) {
			t.Errorf("%v", out.Err)
		}
	})
}

// Where no datagram reaches the coordinator, clocks are compared by questions over the control channel.
func TestClocksAreComparedOverTheControlChannelWhereNothingElseWorks(t *testing.T) {
	t.Parallel()
	c := control(t)
	join(t, c, "left", "b1")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	asked := 0
	go func() {
		ended <- fleet.JoinElsewhere(ctx, fleet.Options{Join: c.Join, Token: c.Token, Name: "right", Build: "b1", Say: t.Logf},
			func(context.Context, string, string) (clock.Offset, error) {
				asked++
				return clock.Offset{}, errors.New("a firewall")
			})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	f, err := gather(t, c, 2, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	a := f.Agent()
	if _, err := a.Prepare(t.Context(), bothWays(t, 0)); err != nil {
		t.Fatal(err)
	}
	out, _ := a.Run(t.Context(), worker.Load{Messages: 1000, Drain: 10 * time.Second})
	if out.Err != nil || out.Measured.Received != 1000 || out.ClockBound == 0 || !out.Early.Possible(out.ClockBound) {
		t.Errorf("%v: %+v, bound %d, early %+v", out.Err, out.Measured, out.ClockBound, out.Early)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	cancel()
	if <-ended; asked != 1 {
		t.Errorf("asked in vain %d times", asked)
	}
	ended <- nil
}
