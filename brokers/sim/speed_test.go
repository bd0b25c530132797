package sim

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// flow is a closed loop of a fixed set of slots: the least a harness does.
type flow struct {
	rig      *rig
	free     chan uint32
	received atomic.Int64
	batch    []driver.Message
	payloads [][]byte
}

func (f *flow) Done(slots []uint32, _ error) {
	for _, s := range slots {
		f.free <- s
	}
}

func (f *flow) Deliver(batch []driver.Received) { f.received.Add(int64(len(batch))) }

func newFlow(b testing.TB, slots int, client map[string]any) *flow {
	f := &flow{free: make(chan uint32, slots), payloads: make([][]byte, slots)}
	for i := range slots {
		f.payloads[i] = make([]byte, 100)
		f.free <- uint32(i)
	}
	f.rig = newRig(b, 0, client)
	ctx := context.Background()
	top := driver.Topology{Topics: []driver.Topic{{Name: "t", Partitions: 1}}, Subscriptions: []string{"s"}}
	if err := f.rig.drv.Setup(ctx, top); err != nil {
		b.Fatal(err)
	}
	cctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = f.rig.drv.Consume(cctx, driver.ConsumerConfig{}, f, func() { close(ready) })
	}()
	<-ready
	prod, err := f.rig.drv.Producer(ctx, driver.ProducerConfig{Topics: []int{0}, InFlight: slots, MaxBytes: 100}, f)
	if err != nil {
		b.Fatal(err)
	}
	f.rig.prod = prod
	b.Cleanup(func() { _ = prod.Close(); cancel(); <-ended })
	return f
}

// send sends n messages, in batches of what is free up to 64, and waits until all are delivered.
func (f *flow) send(b testing.TB, n int) {
	target := f.received.Load() + int64(n)
	for n > 0 {
		f.batch = f.batch[:0]
		slot := <-f.free
		for {
			f.batch = append(f.batch, driver.Message{Slot: slot, Payload: f.payloads[slot]})
			if len(f.batch) == min(64, n) {
				break
			}
			select {
			case slot = <-f.free:
				continue
			default:
			}
			break
		}
		n -= len(f.batch)
		if err := f.rig.prod.Send(context.Background(), f.batch); err != nil {
			b.Fatal(err)
		}
	}
	for f.received.Load() < target {
		runtime.Gosched()
	}
}

func TestNothingIsAllocatedPerMessage(t *testing.T) {
	f := newFlow(t, 4096, nil)
	f.send(t, 50_000)
	const n = 100_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f.send(t, n)
	runtime.ReadMemStats(&after)
	// The runtime and the test itself allocate a little meanwhile; and a backlog may still grow once.
	if got := after.Mallocs - before.Mallocs; got > n/1000 {
		t.Errorf("%d allocations for %d messages, want at most one per thousand", got, n)
	}
}

func TestAProducerTakesNoMemoryForTopicsOfOthers(t *testing.T) {
	const topics, producers = 10_000, 100
	top := driver.Topology{Subscriptions: []string{"s"}}
	for i := range topics {
		top.Topics = append(top.Topics, driver.Topic{Name: strconv.Itoa(i), Partitions: 1})
	}
	d := openBroker(t, t.Name(), nil)
	if err := d.Setup(t.Context(), top); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range producers {
		p, err := d.Producer(t.Context(), driver.ProducerConfig{Topics: []int{i}, InFlight: 1, MaxBytes: 100}, &receipts{changed: make(chan struct{}, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / producers; got > topics {
		t.Errorf("%d bytes for each producer of one topic among %d, want less than a byte for each topic", got, topics)
	}
}

func BenchmarkMessages(b *testing.B) {
	for name, client := range map[string]map[string]any{
		"unlimited":   nil,
		"latency 5ms": {"latency": "5ms", "ack.latency": "1ms"},
	} {
		b.Run(name, func(b *testing.B) {
			f := newFlow(b, 1<<14, client)
			f.send(b, 10_000)
			b.ReportAllocs()
			b.ResetTimer()
			f.send(b, b.N)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
		})
	}
}
