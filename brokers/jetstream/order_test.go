package jetstream_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/brokers/internal/natsio/natstest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

var orders = driver.Topology{Topics: []driver.Topic{{Name: "orders", Partitions: 1}}, Subscriptions: []string{"audit"}}

// stocked is a driver whose stream holds messages 0 to n-1, none of them delivered.
func stocked(t *testing.T, target driver.Target, g driver.Guarantee, client map[string]any, b *books, n int) driver.Driver {
	t.Helper()
	drv, err := openSession(t, target, g, client, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = drv.Close() })
	if err := drv.Setup(t.Context(), orders); err != nil {
		t.Fatal(err)
	}
	p, err := drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: cap(b.free), MaxBytes: 8}, b)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for id := range uint64(n) {
		b.send(t, p, id)
	}
	if !eventually(func() bool { return b.ackedCount() == n }) {
		t.Fatalf("%d of %d messages were acknowledged; the last error: %v", b.ackedCount(), n, b.lastErr)
	}
	return drv
}

// administrator is somebody else's client of the same server.
func administrator(t *testing.T, target driver.Target) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect("nats://" + target.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func requireInOrder(t *testing.T, drv driver.Driver, b *books, n int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- drv.Consume(ctx, driver.ConsumerConfig{}, b, func() {}) }()
	if !eventually(func() bool { return b.arrived() >= n }) {
		t.Errorf("%d messages arrived, want %d", b.arrived(), n)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if b.late > 0 {
		t.Errorf("%d messages came after a later one", b.late)
	}
	if again := b.again(); again > 0 {
		t.Errorf("%d messages came more than once", again)
	}
}

func TestOrderedNothingOvertakesWhatWasLostOnItsWayToAConsumer(t *testing.T) {
	const messages, lost = 20, 5
	once, ordered := memoryLeast, exactlyOnce
	ordered.Ordering = driver.Ordered
	for name, c := range map[string]struct {
		g      driver.Guarantee
		policy string
	}{"at-least-once": {once, "explicit"}, "at-least-once, all": {once, "all"}, "exactly-once": {ordered, "explicit"}} {
		t.Run(name, func(t *testing.T) {
			target := natstest.Target(natstest.Start(t, provision.Options{Broker: "jetstream"}))
			b := newBooks(messages)
			drv := stocked(t, target, c.g, map[string]any{"AckPolicy": c.policy, "AckWait": "10m"}, b, messages)
			consumer, err := administrator(t, target).Consumer(t.Context(), "orders", "audit")
			if err != nil {
				t.Fatal(err)
			}
			batch, err := consumer.Fetch(lost) // takes them away without acknowledging
			if err != nil {
				t.Fatal(err)
			}
			taken := 0
			for range batch.Messages() {
				taken++
			}
			if taken != lost {
				t.Fatalf("%d messages were taken away, want %d", taken, lost)
			}
			requireInOrder(t, drv, b, messages)
		})
	}
}

func TestOrderedWhatIsGoneFromTheStreamHoldsNothingUp(t *testing.T) {
	const messages = 20
	target := natstest.Target(natstest.Start(t, provision.Options{Broker: "jetstream"}))
	b := newBooks(messages)
	drv := stocked(t, target, fileLeast, nil, b, messages)
	stream, err := administrator(t, target).Stream(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	gone := []uint64{1, 5, 6, 12}
	for _, n := range gone {
		if err := stream.DeleteMsg(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	requireInOrder(t, drv, b, messages-len(gone))
}

func TestAfterARestartAStreamInMemoryIsMadeAnewAndTheRunGoesOn(t *testing.T) {
	const before, after = 100, 200
	ordered, shared := memoryLeast, memoryLeast
	ordered.Delivery, shared.Delivery, shared.Ordering = driver.ExactlyOnce, driver.ExactlyOnce, driver.Unordered
	for name, g := range map[string]driver.Guarantee{"at-least-once": memoryLeast, "exactly-once": ordered, "exactly-once, unordered": shared} {
		t.Run(name, func(t *testing.T) {
			server := natstest.Start(t, provision.Options{Broker: "jetstream"})
			drv, err := openSession(t, natstest.Target(server), g, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			b := newBooks(16)
			p, stop := start(t, drv, b)
			for id := range uint64(before) {
				b.send(t, p, id)
			}
			if !eventually(func() bool { return b.arrived() == before }) {
				t.Fatalf("%d of %d messages arrived", b.arrived(), before)
			}
			if err := server.Kill(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			if err := server.Restart(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			for id := uint64(before); id < before+after; id++ {
				b.send(t, p, id)
			}
			if !eventually(func() bool { return b.ackedCount() == before+after && b.missing() == 0 }) {
				t.Errorf("%d of %d messages were acknowledged, %d of them did not arrive", b.ackedCount(), before+after, b.missing())
			}
			stop()
			if b.failed > 0 || b.late > 0 {
				t.Errorf("%d messages failed, the last with %v; %d came after a later one", b.failed, b.lastErr, b.late)
			}
			if n := b.again(); n > 0 && g.Delivery == driver.ExactlyOnce {
				t.Errorf("%d messages came more than once", n)
			}
		})
	}
}

func TestOrderedFirstDeliveriesAreInOrderWhenTheServerIsKilledUnderLoad(t *testing.T) {
	g := synced
	g.Ordering = driver.Ordered
	server := natstest.Start(t, provision.Options{Broker: "jetstream", Server: map[string]any{"jetstream.sync_interval": "always"}})
	drv, err := openSession(t, natstest.Target(server), g, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBooks(1000)
	p, stop := start(t, drv, b)
	next := uint64(0)
	load := func(over func() bool) {
		for ; !over(); next++ {
			b.send(t, p, next)
		}
	}
	for range 2 {
		more := b.arrived() + 2000
		load(func() bool { return b.arrived() >= more })
		if err := server.Kill(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		back := make(chan error, 1)
		go func() { back <- server.Restart(context.Background(), 1) }()
		load(func() bool { return len(back) > 0 })
		if err := <-back; err != nil {
			t.Fatal(err)
		}
	}
	end := time.Now().Add(time.Second)
	load(func() bool { return time.Now().After(end) })
	if !eventually(func() bool { return b.ackedCount() == int(next) && b.missing() == 0 }) {
		t.Errorf("%d of %d messages were acknowledged, %d of them did not arrive", b.ackedCount(), next, b.missing())
	}
	stop()
	t.Logf("%d messages, %d of them more than once", next, b.again())
	if b.late > 0 {
		t.Errorf("%d messages came after a later one", b.late)
	}
}
