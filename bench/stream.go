package main

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/provision"
)

const (
	streamWindow = 10_000 // unconfirmed messages
	streamBatch  = 1000   // messages in one frame at most
)

func (b *bench) streamPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "rabbitmq-stream"}, func(in *provision.Instance) error {
		r := &peakRun{
			b: b, broker: "rabbitmq-stream", bareName: "bare rabbitmq-stream-go-client", address: in.Addresses()[0],
			plan: loopPlan{Client: "rabbitmq-stream", Window: streamWindow},
			sets: []string{
				"delivery=at-least-once", fmt.Sprintf("inFlight.messages=%d", streamWindow), fmt.Sprintf("client.batch.size=%d", streamBatch),
			},
		}
		return r.compare(ctx, section{
			Title: "RabbitMQ streams, 100 B",
			Settings: fmt.Sprintf("1 stream; 1 producer, %d messages may be unconfirmed, at most %d in a frame; "+
				"1 consumer, its offset stored every 10,000 messages or 5 s; the system's socket buffers", streamWindow, streamBatch),
		}, nil)
	})
}
