package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	rabbitPrefetch = 1000
	rabbitAckEvery = 100
	rabbitWindow   = 1000 // unconfirmed messages
	perfTestWarm   = 10 * time.Second
)

func (b *bench) rabbitPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "rabbitmq"}, func(in *provision.Instance) error {
		r := &peakRun{
			b: b, broker: "rabbitmq", bareName: "bare amqp091-go", address: in.Addresses()[0],
			plan: loopPlan{Client: "rabbitmq", Window: rabbitWindow},
			sets: []string{"delivery=at-most-once"},
		}
		peer := contender{"PerfTest", r.perfTest}
		besidePeer := target{of: tunedProgram, against: peer.name, rate: 0.95, cpu: 1.1}
		if err := r.compare(ctx, section{
			Title:    "RabbitMQ, 100 B, no confirms",
			Settings: "1 classic queue, not durable, default exchange; 1 producer, transient messages, no confirms; 1 consumer, automatic acknowledgement",
		}, []contender{peer}, besidePeer); err != nil {
			return err
		}
		r.plan.Confirm, r.messages = true, 0
		r.sets = []string{
			"delivery=at-least-once", "persistence=log", fmt.Sprintf("inFlight.messages=%d", rabbitWindow),
			fmt.Sprintf("client.prefetch=%d", rabbitPrefetch), fmt.Sprintf("client.ack.every=%d", rabbitAckEvery),
		}
		return r.compare(ctx, section{
			Title: "RabbitMQ, 100 B, confirms",
			Settings: fmt.Sprintf("1 durable classic queue, default exchange; 1 producer, persistent messages, %d may be unconfirmed; "+
				"1 consumer, prefetch %d, one acknowledgement for %d messages", rabbitWindow, rabbitPrefetch, rabbitAckEvery),
		}, []contender{peer}, besidePeer)
	})
}

// perfTest runs RabbitMQ's own tool with the bare loop's guarantees.
func (r *peakRun) perfTest(ctx context.Context) (s sample, err error) {
	p := maker.Point{
		Topic: r.topic(), Subscriptions: []string{"s0"}, Partitions: 1, Producers: 1, Consumers: 1, For: time.Hour, InFlight: rabbitWindow,
		Guarantee: driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory},
	}
	if r.plan.Confirm {
		p.Guarantee = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log}
		p.Client = map[string]any{"prefetch": rabbitPrefetch, "ack.every": rabbitAckEvery}
	}
	queue, err := r.open(ctx, p.Topic, p.Guarantee.Persistence, nil)
	if err != nil {
		return s, err
	}
	defer queue.Close()
	c, err := r.tool(ctx, "perf-test", p)
	if err != nil {
		return s, err
	}
	warm := func(elapsed time.Duration, _ float64) bool { return elapsed >= perfTestWarm }
	s, err = r.b.jvm(ctx, perfTestReport, warm, c.Path, c.Args...)
	return s, errors.Join(err, queue.(driver.Cleaner).Clean(ctx)) // with what the tool had sent ahead
}

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
