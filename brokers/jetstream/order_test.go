package jetstream_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// administrator is somebody else's client of the same server.
func administrator(t *testing.T, target driver.Target) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect("nats://" + target.Addresses[0])
	livetest.Must(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	livetest.Must(t, err)
	return js
}

// requireInOrder consumes what the stream holds and wants n messages, each once.
func requireInOrder(t *testing.T, r *livetest.Rig, n int) {
	t.Helper()
	end := r.Consume(t, driver.ConsumerConfig{})
	livetest.Eventually(t, fmt.Sprintf("%d messages arrive", n), func() bool { return r.Count().Received >= n })
	end()
	if c := r.Count(); c.Late > 0 || c.Repeated > 0 {
		t.Errorf("%d messages came after a later one, %d more than once", c.Late, c.Repeated)
	}
}

// With AckPolicy all a message that comes later would acknowledge what was lost, whether order was asked for or not.
func TestNothingOvertakesWhatWasLostOnItsWayToAConsumer(t *testing.T) {
	const messages, lost = 20, 5
	ordered, unordered := exactlyOnce, fileLeast
	ordered.Ordering, unordered.Ordering = driver.Ordered, driver.Unordered
	for name, c := range map[string]struct {
		g      driver.Guarantee
		policy string
	}{"at-least-once": {memoryLeast, "explicit"}, "at-least-once, all": {memoryLeast, "all"}, "unordered, all": {unordered, "all"}, "exactly-once": {ordered, "explicit"}} {
		t.Run(name, func(t *testing.T) {
			_, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
			r := opened(t, target, c.g, map[string]any{"AckPolicy": c.policy, "AckWait": "10m"}, messages)
			livetest.Must(t, r.Send(t, numbers(0, messages)...))
			consumer, err := administrator(t, target).Consumer(t.Context(), "orders", "audit")
			livetest.Must(t, err)
			batch, err := consumer.Fetch(lost) // takes them away without acknowledging
			livetest.Must(t, err)
			taken := 0
			for range batch.Messages() {
				taken++
			}
			if taken != lost {
				t.Fatalf("%d messages were taken away, want %d", taken, lost)
			}
			requireInOrder(t, r, messages)
		})
	}
}

func TestOrderedWhatIsGoneFromTheStreamHoldsNothingUp(t *testing.T) {
	const messages = 20
	_, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	r := opened(t, target, fileLeast, nil, messages)
	livetest.Must(t, r.Send(t, numbers(0, messages)...))
	stream, err := administrator(t, target).Stream(t.Context(), "orders")
	livetest.Must(t, err)
	gone := []uint64{1, 5, 6, 12}
	for _, n := range gone {
		livetest.Must(t, stream.DeleteMsg(t.Context(), n))
	}
	requireInOrder(t, r, messages-len(gone))
}

func TestOrderedConsumersFollowAStreamThatWasMadeAnew(t *testing.T) {
	const before, after = 300, 100
	in, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	r := opened(t, target, memoryOnce, map[string]any{"consumer": "ordered", "PullHeartbeat": "500ms"}, 16)
	end := r.Consume(t, driver.ConsumerConfig{})
	r.Post(t, numbers(0, before)...)
	livetest.Eventually(t, "all arrive", func() bool { return r.Count().Received == before })
	livetest.Must(t, livetest.Restart(t.Context(), in, 1))
	// The places of the new stream are below those that were delivered.
	livetest.Eventually(t, "what is sent to the new stream arrives", func() bool {
		r.Post(t, fmt.Sprint(before+r.Count().Sent))
		return r.Count().Received >= before+after
	})
	end()
	if c := r.Count(); c.Late > 0 || c.Repeated > 0 {
		t.Errorf("%d messages came after a later one, %d more than once", c.Late, c.Repeated)
	}
}

func TestOrderedConsumersGoOnWhereTheyWere(t *testing.T) {
	const each = 200
	in, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	logged := memoryOnce
	logged.Persistence = driver.Log
	r := opened(t, target, logged, map[string]any{"consumer": "ordered", "PullHeartbeat": "500ms"}, 16)
	for round := range 3 {
		end := r.Consume(t, driver.ConsumerConfig{})
		r.Post(t, numbers(round*each, (round+1)*each)...)
		livetest.Eventually(t, "all arrive", func() bool { return r.Count().Received == (round+1)*each })
		if round == 1 { // under the consumer, which goes on with what is sent afterwards
			livetest.Must(t, livetest.Restart(t.Context(), in, 1))
			sent := r.Count().Sent
			livetest.Eventually(t, "what is sent after the restart arrives", func() bool {
				r.Post(t, fmt.Sprintf("restarted %d", r.Count().Sent-sent))
				return r.Count().Received >= (round+1)*each+10
			})
			end()
			break
		}
		end()
	}
	if c := r.Count(); c.Late > 0 || c.Repeated > 0 {
		t.Errorf("%d messages came after a later one, %d more than once", c.Late, c.Repeated)
	}
}

func TestAfterARestartAStreamInMemoryIsMadeAnewAndTheRunGoesOn(t *testing.T) {
	const before, after = 100, 200
	ordered, shared := memoryLeast, memoryLeast
	ordered.Delivery, shared.Delivery, shared.Ordering = driver.ExactlyOnce, driver.ExactlyOnce, driver.Unordered
	for name, g := range map[string]driver.Guarantee{"at-least-once": memoryLeast, "exactly-once": ordered, "exactly-once, unordered": shared} {
		t.Run(name, func(t *testing.T) {
			in, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
			r := opened(t, target, g, map[string]any{"PullHeartbeat": "500ms"}, 16)
			end := r.Consume(t, driver.ConsumerConfig{})
			r.Post(t, numbers(0, before)...)
			livetest.Eventually(t, "all arrive", func() bool { return r.Count().Received == before })
			livetest.Must(t, livetest.Restart(t.Context(), in, 1))
			for id := before; r.Count().Acked < before+after && id < 100_000; id++ {
				r.Post(t, fmt.Sprint(id))
				time.Sleep(time.Millisecond)
			}
			r.Settled(t)
			end()
			c := r.Count()
			if c.Acked < before+after {
				t.Errorf("%d messages were acknowledged, want %d: %v", c.Acked, before+after, c.LastErr)
			}
			if c.Failed > 0 && g.Delivery == driver.AtLeastOnce {
				t.Errorf("%d messages failed, the last with %v", c.Failed, c.LastErr)
			}
			if c.Late > 0 && g.Ordering == driver.Ordered {
				t.Errorf("%d messages came after a later one", c.Late)
			}
			if c.Repeated > 0 && g.Delivery == driver.ExactlyOnce {
				t.Errorf("%d messages came more than once", c.Repeated)
			}
		})
	}
}

func TestOrderedFirstDeliveriesAreInOrderWhenTheServerIsKilledUnderLoad(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "jetstream", Server: map[string]any{"jetstream.sync_interval": "always"}})
	r := opened(t, target, synced, nil, 1000)
	end := r.Consume(t, driver.ConsumerConfig{})
	next := 0
	load := func(over func() bool) {
		t.Helper()
		for ; !over(); next++ {
			r.Post(t, fmt.Sprint(next))
		}
	}
	for range 2 {
		more := r.Count().Received + 2000
		load(func() bool { return r.Count().Received >= more })
		livetest.Must(t, in.Kill(t.Context(), 1))
		back := make(chan error, 1)
		go func() { back <- in.Restart(t.Context(), 1) }()
		load(func() bool { return len(back) > 0 })
		livetest.Must(t, <-back)
	}
	last := time.Now().Add(time.Second)
	load(func() bool { return time.Now().After(last) })
	livetest.Eventually(t, "all are acknowledged and arrive", func() bool { c := r.Count(); return c.Acked == next && c.Lost == 0 })
	end()
	c := r.Count()
	t.Logf("%+v", c)
	if c.Late > 0 {
		t.Errorf("%d messages came after a later one", c.Late)
	}
}
