package main

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// rocketMessages are those of every run. The unrecorded run can't tell how many fill the time: a cold JVM takes a tenth of what it
// does later.
const rocketMessages = 100_000

func (b *bench) rocketPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "rocketmq"}, func(in *provision.Instance) error {
		broker := in.Endpoints()["broker"]
		r := &peakRun{
			b: b, broker: "rocketmq", bareName: "bare protocol", address: in.Addresses()[0], messages: rocketMessages,
			plan: loopPlan{Client: "rocketmq", Window: plainWindow},
			sets: []string{
				"delivery=at-least-once", "persistence=log", "ordering=unordered", fmt.Sprintf("inFlight.messages=%d", plainWindow),
				"client.brokerAddr=" + broker,
			},
		}
		r.create = func(ctx context.Context, name string) error {
			return r.declare(ctx, name, driver.Log, map[string]any{"brokerAddr": broker})
		}
		return r.compare(ctx, section{
			Title: "RocketMQ, 100 B", oneMode: true,
			Settings: fmt.Sprintf("1 topic with 1 queue, written and not flushed; 1 producer, %d calls of up to %d messages; 1 consumer, %d receives "+
				"of up to %d messages, each acknowledged in one call; the bare loop is over the client that is generated from the protocol",
				rocketSends, rocketBatch, rocketReceives, rocketReceived),
		}, nil)
	})
}
