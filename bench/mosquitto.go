package main

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/provision"
)

// mosquittoRun is one running server. Mosquitto has no benchmark of its own to run beside it.
type mosquittoRun struct {
	b        *bench
	address  string
	topics   int
	messages int64 // of every run; 0 until the unrecorded one has told what takes the measured time
}

func (b *bench) mosquittoPeak(ctx context.Context) error {
	// The client has no window of its own: it publishes as many messages as the server says that it takes.
	window := map[string]any{"max_inflight_messages": mqttReceive}
	return b.with(ctx, provision.Options{Broker: "mosquitto", Server: window}, func(in *provision.Instance) error {
		r := &mosquittoRun{b: b, address: in.Addresses()[0]}
		if err := r.compare(ctx, false); err != nil {
			return err
		}
		r.messages = 0
		return r.compare(ctx, true)
	})
}

func (r *mosquittoRun) compare(ctx context.Context, confirm bool) error {
	s := section{
		Title:    "Mosquitto, 100 B, QoS 0",
		Settings: "1 topic; 1 producer; 1 consumer in a shared subscription",
	}
	if confirm {
		s = section{
			Title: "Mosquitto, 100 B, QoS 1",
			Settings: fmt.Sprintf("1 topic; 1 producer, %d may be unacknowledged; 1 consumer in a shared subscription, which may hold %d",
				mqttReceive, mqttReceive),
		}
	}
	return r.b.compare(ctx, s, []contender{
		{"bare paho.golang", func(ctx context.Context) (sample, error) { return r.bare(ctx, confirm) }},
		{"Brokermark", func(ctx context.Context) (sample, error) { return r.through(ctx, confirm) }},
	}, []target{{of: "Brokermark", against: "bare paho.golang", rate: 0.9, cpu: 1.15}}, nil)
}

func (r *mosquittoRun) bare(ctx context.Context, confirm bool) (sample, error) {
	r.topics++
	s, err := r.b.bare(ctx, loopPlan{
		Client: "mosquitto", Address: r.address, Name: fmt.Sprintf("bench-%d", r.topics), Window: mqttReceive, Confirm: confirm, Messages: r.messages,
	})
	if r.messages == 0 {
		r.messages = r.b.enough(s)
	}
	return s, err
}

func (r *mosquittoRun) through(ctx context.Context, confirm bool) (sample, error) {
	sets := []string{"delivery=at-most-once", "persistence=memory"}
	if confirm {
		sets = []string{
			"delivery=at-least-once", "persistence=memory", fmt.Sprintf("inFlight.messages=%d", mqttReceive),
			fmt.Sprintf("client.ReceiveMaximum=%d", mqttReceive),
		}
	}
	return r.b.through(ctx, r.address, "mosquitto", r.messages, sets...)
}
