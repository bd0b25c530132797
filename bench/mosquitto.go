package main

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/provision"
)

// mosquittoPeak has no tool to run beside the others: Mosquitto comes with no benchmark.
func (b *bench) mosquittoPeak(ctx context.Context) error {
	// The client has no window of its own: it publishes as many messages as the server says that it takes.
	window := map[string]any{"max_inflight_messages": mqttReceive}
	return b.with(ctx, provision.Options{Broker: "mosquitto", Server: window}, func(in *provision.Instance) error {
		r := &peakRun{
			b: b, broker: "mosquitto", bareName: "bare paho.golang", address: in.Addresses()[0],
			plan: loopPlan{Client: "mosquitto", Window: mqttReceive},
			sets: []string{"delivery=at-most-once", "persistence=memory"},
		}
		if err := r.compare(ctx, section{
			Title:    "Mosquitto, 100 B, QoS 0",
			Settings: "1 topic; 1 producer; 1 consumer in a shared subscription",
		}, nil); err != nil {
			return err
		}
		r.plan.Confirm, r.messages = true, 0
		r.sets = []string{
			"delivery=at-least-once", "persistence=memory", fmt.Sprintf("inFlight.messages=%d", mqttReceive),
			fmt.Sprintf("client.ReceiveMaximum=%d", mqttReceive),
		}
		return r.compare(ctx, section{
			Title: "Mosquitto, 100 B, QoS 1",
			Settings: fmt.Sprintf("1 topic; 1 producer, %d may be unacknowledged; 1 consumer in a shared subscription, which may hold %d",
				mqttReceive, mqttReceive),
		}, nil)
	})
}
