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

// streamRun is one running server.
type streamRun struct {
	b        *bench
	address  string
	streams  int
	messages int64 // of every run; 0 until the unrecorded one has told what takes the measured time
}

func (b *bench) streamPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "rabbitmq-stream"}, func(in *provision.Instance) error {
		r := &streamRun{b: b, address: in.Addresses()[0]}
		s := section{
			Title: "RabbitMQ streams, 100 B",
			Settings: fmt.Sprintf("1 stream; 1 producer, %d messages may be unconfirmed, at most %d in a frame; "+
				"1 consumer, its offset stored every 10,000 messages or 5 s; the system's socket buffers", streamWindow, streamBatch),
		}
		return b.compare(ctx, s, []contender{
			{"bare rabbitmq-stream-go-client", r.bare},
			{"Brokermark", r.through},
		}, []target{{of: "Brokermark", against: "bare rabbitmq-stream-go-client", rate: 0.9, cpu: 1.15}}, nil)
	})
}

func (r *streamRun) bare(ctx context.Context) (sample, error) {
	r.streams++
	s, err := r.b.bare(ctx, loopPlan{
		Client: "rabbitmq-stream", Address: r.address, Name: fmt.Sprintf("bench-%d", r.streams), Window: streamWindow, Messages: r.messages,
	})
	if r.messages == 0 {
		r.messages = r.b.enough(s)
	}
	return s, err
}

func (r *streamRun) through(ctx context.Context) (sample, error) {
	return r.b.through(ctx, r.address, "rabbitmq-stream", r.messages,
		"delivery=at-least-once", fmt.Sprintf("inFlight.messages=%d", streamWindow), fmt.Sprintf("client.batch.size=%d", streamBatch))
}
