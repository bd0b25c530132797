package main

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/provision"
)

const (
	amqp10Credit = 1000 // messages a consumer may hold
	amqp10Window = 1000 // unsettled messages
)

// artemisRun is one running server.
type artemisRun struct {
	b        *bench
	address  string
	queues   int
	messages int64 // of every run; 0 until the unrecorded one has told what takes the measured time
}

func (b *bench) artemisPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "artemis"}, func(in *provision.Instance) error {
		r := &artemisRun{b: b, address: in.Addresses()[0]}
		if err := r.compare(ctx, false); err != nil {
			return err
		}
		r.messages = 0
		return r.compare(ctx, true)
	})
}

func (r *artemisRun) compare(ctx context.Context, confirm bool) error {
	s := section{
		Title:    "Artemis over AMQP 1.0, 100 B, settled",
		Settings: "1 anycast queue; 1 producer, non-durable messages, settled; 1 consumer, settled deliveries",
	}
	if confirm {
		s = section{
			Title: "Artemis over AMQP 1.0, 100 B, dispositions",
			Settings: fmt.Sprintf("1 anycast queue; 1 producer, non-durable messages, %d may be unsettled; 1 consumer, credit %d, every message accepted",
				amqp10Window, amqp10Credit),
		}
	}
	return r.b.compare(ctx, s, []contender{
		{"bare go-amqp", func(ctx context.Context) (sample, error) { return r.bare(ctx, confirm) }},
		{"Brokermark", func(ctx context.Context) (sample, error) { return r.through(ctx, confirm) }},
	}, []target{{of: "Brokermark", against: "bare go-amqp", rate: 0.9, cpu: 1.15}}, nil)
}

func (r *artemisRun) bare(ctx context.Context, confirm bool) (sample, error) {
	r.queues++
	s, err := r.b.bare(ctx, loopPlan{
		Client: "amqp10", Address: r.address, Name: fmt.Sprintf("bench-%d", r.queues), Window: amqp10Window, Confirm: confirm, Messages: r.messages,
	})
	if r.messages == 0 {
		r.messages = r.b.enough(s)
	}
	return s, err
}

func (r *artemisRun) through(ctx context.Context, confirm bool) (sample, error) {
	sets := []string{"delivery=at-most-once", "persistence=memory"}
	if confirm {
		sets = []string{
			"delivery=at-least-once", "persistence=memory", fmt.Sprintf("inFlight.messages=%d", amqp10Window),
			fmt.Sprintf("client.Credit=%d", amqp10Credit),
		}
	}
	return r.b.through(ctx, r.address, "artemis", r.messages, sets...)
}
