package worker

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/testkit"
)

func prepared(tb testing.TB, subscriptions, size int) *Worker {
	tb.Helper()
	p := Plan{
		Topology:  driver.Topology{Topics: []driver.Topic{{Name: "t", Partitions: 1}}},
		Producers: []Producer{{ID: 0, Topic: 0}},
		Payload:   Payload{Sizes: []Size{{size, 1}}, Random: 1, Pool: 4},
		InFlight:  1000, Bytes: 1 << 20, Connect: 5 * time.Second,
	}
	for s := range subscriptions {
		p.Topology.Subscriptions = append(p.Topology.Subscriptions, string(rune('a'+s)))
		p.Consumers = append(p.Consumers, driver.ConsumerConfig{Subscription: s})
	}
	w, err := Prepare(tb.Context(), &memory{}, p)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Close() })
	return w
}

func TestAMessageAllocatesNothing(t *testing.T) {
	if testkit.Racing {
		testkit.Without(t, "the race detector allocates on its own account")
	}
	const messages = 2_000_000
	const allowed = 0.001
	fast, err := schedule.Constant(1e7)
	if err != nil {
		t.Fatal(err)
	}
	for name, load := range map[string]Load{
		"closed loop": {Messages: messages, Drain: time.Second},
		"open loop":   {Messages: messages, Drain: 20 * time.Second, Schedule: fast},
	} {
		t.Run(name, func(t *testing.T) {
			w := prepared(t, 1, 100)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out := w.Run(context.Background(), load)
			runtime.ReadMemStats(&after)
			if out.Measured.Sent+out.Warmup.Sent != messages || out.Err != nil {
				t.Fatalf("sent %d: %v", out.Measured.Sent, out.Err)
			}
			if per := float64(after.Mallocs-before.Mallocs) / messages; per > allowed {
				t.Errorf("%.5f allocations per message, allowed %g", per, allowed)
			}
		})
	}
}

// BenchmarkHarness is what a message costs in the harness, with a driver that does nothing but deliver.
func BenchmarkHarness(b *testing.B) {
	for _, c := range []struct {
		name          string
		subscriptions int
		size          int
	}{{"100B", 1, 100}, {"8B", 1, 8}, {"1KiB", 1, 1024}, {"produce-only", 0, 100}} {
		b.Run(c.name, func(b *testing.B) {
			w := prepared(b, c.subscriptions, c.size)
			b.ReportAllocs()
			b.ResetTimer()
			out := w.Run(context.Background(), Load{Messages: int64(b.N), Drain: time.Second})
			if got := out.Measured.Sent; got != int64(b.N) {
				b.Fatalf("sent %d of %d: %v", got, b.N, out.Err)
			}
		})
	}
}
