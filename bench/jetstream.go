package main

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/provision"
)

const plainWindow = 1000 // unacknowledged messages

// atLeastOnce are Brokermark's settings beside a bare loop with plainWindow, where nothing has to be on the disk.
func atLeastOnce(more ...string) []string {
	return append([]string{"delivery=at-least-once", "persistence=memory", fmt.Sprintf("inFlight.messages=%d", plainWindow)}, more...)
}

func (b *bench) jetstreamPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "jetstream"}, func(in *provision.Instance) error {
		r := &peakRun{
			b: b, broker: "jetstream", bareName: "bare nats.go", address: in.Addresses()[0],
			plan: loopPlan{Client: "jetstream", Window: plainWindow}, sets: atLeastOnce(),
		}
		return r.compare(ctx, section{
			Title: "JetStream, 100 B, memory",
			Settings: fmt.Sprintf("1 stream kept while there is interest; 1 producer, %d may be unacknowledged; 1 durable pull consumer, "+
				"%d asked for ahead, every message acknowledged", plainWindow, pulledAhead),
		}, nil)
	})
}
