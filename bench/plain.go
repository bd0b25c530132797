package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// plainRun sets Brokermark against the bare loop over the same client, on one running server.
type plainRun struct {
	b        *bench
	broker   string
	bareName string
	plan     loopPlan // Client, Window and Confirm; the rest is filled in
	sets     []string // for Brokermark
	declared bool     // the bare loop finds no topic unless somebody makes it
	// persistence and client are what the topic is made with; memory and the defaults where they are left out.
	persistence driver.Persistence
	client      map[string]any
	address     string
	after       func(ctx context.Context) error // clears up behind every run; may be nil
	names       int
	messages    int64 // of every run; 0 until the unrecorded one has told what takes the measured time
}

// compare takes further contenders, which have no target.
func (r *plainRun) compare(ctx context.Context, s section, further ...contender) error {
	return r.b.compare(ctx, s, append([]contender{{r.bareName, r.bare}, {"Brokermark", r.through}}, further...),
		[]target{{of: "Brokermark", against: r.bareName, rate: 0.9, cpu: 1.15}}, r.after)
}

func (r *plainRun) bare(ctx context.Context) (sample, error) {
	r.names++
	p := r.plan
	p.Address, p.Name, p.Messages = r.address, fmt.Sprintf("bench-%d", r.names), r.messages
	if r.declared {
		if err := r.declare(ctx, p.Name); err != nil {
			return sample{}, fmt.Errorf("make %s: %w", p.Name, err)
		}
	}
	s, err := r.b.bare(ctx, p)
	if r.messages == 0 {
		r.messages = r.b.enough(s)
	}
	return s, err
}

// declare makes the topic as Brokermark would, from outside of what is measured.
func (r *plainRun) declare(ctx context.Context, name string) error {
	kind, err := driver.Lookup(r.broker)
	if err != nil {
		return err
	}
	c := driver.Config{Target: driver.Target{Addresses: []string{r.address}}, Guarantee: driver.Guarantee{
		Delivery: driver.AtLeastOnce, Persistence: cmp.Or(r.persistence, driver.Memory), Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered,
	}}
	if c.Client, err = driver.Decode(kind.Settings, driver.ClientScope, r.client); err != nil {
		return err
	}
	c.Topic, _ = driver.Decode(kind.Settings, driver.TopicScope, nil) // defaults
	d, err := kind.Open(ctx, c)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Setup(ctx, driver.Topology{Topics: []driver.Topic{{Name: name, Partitions: 1}}, Subscriptions: []string{"s0"}})
}

func (r *plainRun) through(ctx context.Context) (sample, error) {
	return r.b.through(ctx, r.address, r.broker, r.messages, r.sets...)
}

const plainWindow = 1000 // unacknowledged messages

func atLeastOnce(more ...string) []string {
	return append([]string{"delivery=at-least-once", "persistence=memory", fmt.Sprintf("inFlight.messages=%d", plainWindow)}, more...)
}

func (b *bench) jetstreamPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "jetstream"}, func(in *provision.Instance) error {
		r := &plainRun{
			b: b, broker: "jetstream", bareName: "bare nats.go", address: in.Addresses()[0],
			plan: loopPlan{Client: "jetstream", Window: plainWindow}, sets: atLeastOnce(),
		}
		return r.compare(ctx, section{
			Title: "JetStream, 100 B, memory",
			Settings: fmt.Sprintf("1 stream kept while there is interest; 1 producer, %d may be unacknowledged; 1 durable pull consumer, "+
				"%d asked for ahead, every message acknowledged", plainWindow, pulledAhead),
		})
	})
}
