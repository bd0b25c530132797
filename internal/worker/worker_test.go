package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/driver"
)

// refusing is a driver that fails where it is told to.
type refusing struct {
	script
	setup, producer error
	mute            bool // consumers never become ready
}

func (d *refusing) Setup(ctx context.Context, t driver.Topology) error {
	if d.setup != nil {
		return d.setup
	}
	return d.script.Setup(ctx, t)
}

func (d *refusing) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	if d.producer != nil && c.ID == 1 {
		return nil, d.producer
	}
	return d.script.Producer(ctx, c, r)
}

func (d *refusing) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	if d.mute {
		<-ctx.Done()
		return nil
	}
	return d.script.Consume(ctx, c, s, ready)
}

func TestWhatCannotBePreparedIsSaidAndLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	blind := func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.script.delivering.Lock()
		defer p.script.delivering.Unlock()
		if p.config.ID != 1 {
			p.sinks[0].Deliver(payloads(batch))
		}
		p.sinks[1].Deliver(payloads(batch))
		p.done(batch, nil)
		return nil
	}
	unsupported := driver.Unsupported("partitionsPerTopic: 3", "it has no partitions")
	for name, c := range map[string]struct {
		driver *refusing
		edit   func(*Plan)
		want   string
	}{
		"setup refused":       {&refusing{setup: unsupported}, nil, "set up topics: partitionsPerTopic: 3 is not supported: it has no partitions"},
		"no producer":         {&refusing{producer: errors.New("too many connections")}, nil, "producer 1: too many connections"},
		"consumers not ready": {&refusing{mute: true}, nil, "2 of 2 consumers were not ready in time: context deadline exceeded"},
		"a consumer ends": {
			&refusing{script: script{
				// Nothing is delivered: preparing goes on until the end of the consumer is noticed.
				send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
					p.done(batch, nil)
					return nil
				},
				consume: func(context.Context, driver.ConsumerConfig) error { return errors.New("no such queue") },
			}}, nil,
			"consumer 0 of subscription",
		},
		"a subscription never sees": {
			&refusing{script: script{send: blind}}, nil,
			"1 of 3 producers were not seen by every subscription within 300ms (the first is producer 1): context deadline exceeded",
		},
		"a probe fails": {&refusing{script: script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
			p.done(batch, errors.New("x"))
			return errors.New("message too large")
		}}}, nil, "probe: message too large"},
		"payloads": {&refusing{}, func(p *Plan) { p.Payload.Sizes[0].Bytes = 4 }, "message size 4"},
		"keys":     {&refusing{}, func(p *Plan) { p.Keys.Kind = "x" }, `keys: "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			plan := simple(3, 2)
			plan.Connect = 300 * time.Millisecond
			if c.edit != nil {
				c.edit(&plan)
			}
			began := time.Now()
			w, err := Prepare(t.Context(), c.driver, plan)
			if err == nil {
				_ = w.Close()
				t.Fatal("prepared all the same")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q; want %q", err, c.want)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("said so after %v", took)
			}
			if c.driver.setup != nil && !errors.As(err, new(*driver.ErrUnsupported)) {
				t.Errorf("%T is no refusal any more", err)
			}
		})
	}
}

// A producer that no subscription has seen yet is no finding if the user ends the run.
func TestARunThatIsEndedWhileItProbesDoesNotBlameTheBroker(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		end()
		p.done(batch, nil)
		return nil
	}}
	_, err := Prepare(ctx, d, simple(1, 1))
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "were not seen") {
		t.Errorf("%v; want only that it was cancelled", err)
	}
}

// What another agent says may name producers and subscriptions that the plan doesn't have.
func TestAProbeOutsideThePlanStandsForNoOther(t *testing.T) {
	p := NewProbes(2, 3)
	for _, s := range [][2]int{{0, 3}, {0, -1}, {1, -3}, {-1, 5}, {2, 0}, {0, 1 << 40}} {
		p.Seen(s[0], s[1])
	}
	for i := range p.seen {
		if p.seen[i].Load() {
			t.Errorf("%d was seen", i)
		}
	}
}

func TestProbesAreRepeatedUntilEverySubscriptionHasSeenEveryProducer(t *testing.T) {
	var probes atomic.Int64
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probes.Add(1) > 5 { // until then routes are still being set up
			p.deliver(batch)
		}
		p.done(batch, nil)
		return nil
	}}
	w := ready(t, d, simple(2, 3))
	if n := probes.Load(); n < 6 {
		t.Errorf("ready after %d probes, none of the first 5 arrived", n)
	}
	out := w.Run(t.Context(), Load{Messages: 100, Drain: time.Second})
	if m := out.Measured; m.Sent != 100 || m.Received != 300 || m.Stale+m.Duplicated+m.Corrupted != 0 {
		t.Errorf("probes were counted: %+v", m)
	}
}

func TestManyProducersTopicsAndSubscriptionsKeepExactBooks(t *testing.T) {
	const topics, perTopic, subscriptions, consumers = 10, 20, 3, 2
	defer goleak.VerifyNone(t)
	plan := simple(0, 0)
	plan.Topology.Topics = nil
	for s := range subscriptions {
		plan.Topology.Subscriptions = append(plan.Topology.Subscriptions, fmt.Sprint("s", s))
	}
	for i := range topics {
		plan.Topology.Topics = append(plan.Topology.Topics, driver.Topic{Name: fmt.Sprint("t", i), Partitions: 2})
		for range perTopic {
			plan.Producers = append(plan.Producers, Producer{ID: len(plan.Producers), Topic: i})
		}
		for s := range subscriptions {
			for c := range consumers {
				plan.Consumers = append(plan.Consumers, driver.ConsumerConfig{ID: c, Topic: i, Subscription: s})
			}
		}
	}
	plan.InFlight, plan.Keys, plan.KeyOrdered = 50, Keys{Kind: "zipf", N: 100, Exponent: 1.2}, true
	for name, load := range map[string]Load{
		"open loop":   {Schedule: constant(t, 20_000), Duration: 500 * time.Millisecond},
		"closed loop": {Messages: 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			load.Drain, load.Streams = 20*time.Second, true
			out := ready(t, open(t, nil), plan).Run(t.Context(), load)
			m, want := out.Measured, int64(10_000)
			if load.Messages > 0 {
				want = load.Messages
			}
			if m.Sent != want || m.Acked != want || m.Received != want*subscriptions || out.Err != nil || !out.Drained {
				t.Errorf("%+v, want %d sent: %v", m, want, out.Err)
			}
			if m.Duplicated+m.Reordered+m.Corrupted != 0 {
				t.Errorf("faults that the broker doesn't have: %+v", m)
			}
			if len(out.Streams) != topics*perTopic*subscriptions {
				t.Fatalf("%d ledgers", len(out.Streams))
			}
			for _, s := range out.Streams {
				if s.Books.Sent != want/(topics*perTopic) || s.Books.Received != s.Books.Sent {
					t.Errorf("producer %d, subscription %d: %+v", s.Producer, s.Subscription, s.Books)
				}
			}
		})
	}
}
