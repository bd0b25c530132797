package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// leaky is a driver whose client library drops deliveries.
type leaky struct {
	memory
	dropped atomic.Int64
}

func (l *leaky) Dropped() int64 { return l.dropped.Load() }

// Consumers stay connected over all trials, and the library counts from the first.
func TestATrialCountsWhatTheClientDroppedInItAlone(t *testing.T) {
	d := &leaky{}
	p := Plan{
		Topology: driver.Topology{Topics: []driver.Topic{{Name: "t"}}, Subscriptions: []string{"a"}}, Producers: []Producer{{}},
		Consumers: []driver.ConsumerConfig{{}}, Payload: Payload{Sizes: []Size{{Bytes: 100, Weight: 1}}}, Keys: Keys{Kind: "none"},
		InFlight: 100, Bytes: 1 << 20, Connect: 5 * time.Second,
	}
	w, err := Prepare(t.Context(), d, p)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d.dropped.Store(7) // between trials
	for _, n := range []int64{375, 0, 2} {
		load := Load{Messages: 1000, Drain: time.Second}
		load.Sent = func() { d.dropped.Add(n) }
		if out := w.Run(context.Background(), load); out.Dropped != n || out.Err != nil {
			t.Errorf("%d were dropped, %d are counted: %v", n, out.Dropped, out.Err)
		}
	}
}
