package livetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

// holding is an application that stands still with the first message it gets, until it is released.
type holding struct {
	driver.Sink
	once     sync.Once
	has, end chan struct{}
}

func (h *holding) Deliver(batch []driver.Received) {
	h.once.Do(func() {
		close(h.has)
		<-h.end
	})
	h.Sink.Deliver(batch)
}

// redeliveredWithin is how long a broker may take to redeliver messages that an ended consumer had not acknowledged.
const redeliveredWithin = 4 * time.Second

// ConsumersChooseWhenTheyAcknowledge sends at most once to an application that stands still with a message when its
// connection breaks, and looks by another consumer, which would take a message twice, whether the broker has it still: with
// consumer.ack: after it has, with before it doesn't. Messages that the first consumer acknowledged are never redelivered.
// client are settings by which acknowledgements aren't gathered and the broker soon delivers again; g is at most once and
// again what the other consumer asks for.
func ConsumersChooseWhenTheyAcknowledge(t *testing.T, o provision.Options, g, again driver.Guarantee, client map[string]any) {
	ConsumersAcknowledge(t, o, g, again, client, driver.AckAfter, driver.AckBefore)
}

// ConsumersAcknowledge is that for the choices of consumer.ack that a broker offers.
func ConsumersAcknowledge(t *testing.T, o provision.Options, g, again driver.Guarantee, client map[string]any, choices ...string) {
	_, target := Start(t, o)
	for _, when := range choices {
		t.Run(when, func(t *testing.T) { acknowledges(t, o.Broker, target, g, again, when, client) })
	}
}

func acknowledges(t *testing.T, broker string, target driver.Target, g, again driver.Guarantee, when string, client map[string]any) {
	chosen := driver.Completed(client, map[string]any{"consumer.ack": when})
	kind := Kind(t, broker)
	for _, name := range slices.Sorted(maps.Keys(client)) { // settings that make no difference here
		for _, s := range kind.Settings {
			if s.Name == name && s.Idle != nil && s.Idle(g, Values(t, broker, driver.ClientScope, chosen)) != "" {
				delete(chosen, name)
			}
		}
	}
	topology := Topic("acks-"+when, 1, "s")
	c := Config(t, broker, target, g, chosen, nil)
	Must(t, kind.Refusal(c, driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 2, MaxBytes: 100, InFlight: 1}))
	r := Open(t, broker, c, topology)
	done := r.Consume(t, driver.ConsumerConfig{})
	Must(t, r.Send(t, "worked on"))
	Eventually(t, "a message arrives", func() bool { return r.Count().Received == 1 })
	time.Sleep(500 * time.Millisecond) // until the client has sent the acknowledgements that it gathers nevertheless
	done()

	still := &holding{Sink: r.Sink(0), has: make(chan struct{}), end: make(chan struct{})}
	ctx, leave := context.WithCancel(t.Context())
	ready, left := make(chan struct{}), make(chan error, 1)
	go func() { left <- r.Driver.Consume(ctx, driver.ConsumerConfig{}, still, func() { close(ready) }) }()
	release := sync.OnceFunc(func() {
		close(still.end)
		Must(t, <-left)
	})
	defer release()
	defer leave()
	await(t, "the consumer is ready", ready)
	Must(t, r.Send(t, "held"))
	await(t, "the application gets a message", still.has)
	time.Sleep(500 * time.Millisecond) // an acknowledgement before delivery is on its way
	leave()                            // it doesn't come back to acknowledge on another connection
	cut := drivertest.Cut(target.Addresses)
	release()
	if cut == 0 {
		t.Fatal("there was no connection to cut")
	}

	topology.Existing = true
	other := Open(t, broker, Config(t, broker, target, again, client, nil), topology)
	other.Consume(t, driver.ConsumerConfig{ID: 1})
	var got []string
	has := func(payload string) func() bool {
		return func() bool { got = other.Received(0); return slices.Contains(got, payload) }
	}
	sent := 0
	Eventually(t, "the other consumer gets what is sent now", func() bool {
		sent++ // until the broker has noticed the cut, it may hand a message to the consumer behind it, which is lost with that one
		payload := fmt.Sprint("new ", sent)
		Must(t, other.Send(t, payload))
		return Within(time.Second, has(payload))
	})
	if comes := Within(redeliveredWithin, has("held")); comes != (when == driver.AckAfter) {
		t.Errorf("consumer.ack: %s: the other consumer got %v; the message without acknowledgement came again: %v", when, got, comes)
	}
	if has("worked on")() {
		t.Error("what was acknowledged came again")
	}
	if n := len(r.Received(0)); n > 2 {
		t.Errorf("the first consumer got %v, with at most once", r.Received(0))
	}
}

func await(t *testing.T, what string, over <-chan struct{}) {
	t.Helper()
	select {
	case <-over:
	case <-time.After(Patience):
		t.Fatalf("never happened: %s", what)
	}
}
