package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

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

// rabbitLoop is amqp091-go as it comes: a connection each for producer and consumer, the default exchange, one
// queue. With confirms: persistent messages in a durable queue, the confirms awaited in order behind a window, a
// prefetch of 1,000 and one acknowledgement for every 100 deliveries. Without: transient messages, no
// acknowledgements.
func rabbitLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	in, err := rabbitChannel(p)
	if err != nil {
		return err
	}
	defer in.close()
	if _, err := in.QueueDeclare(p.Name, p.Confirm, false, false, false, nil); err != nil {
		return err
	}
	defer func() { _, _ = in.QueueDelete(p.Name, false, false, false) }()
	if p.Confirm {
		if err := in.Qos(rabbitPrefetch, 0, false); err != nil {
			return err
		}
	}
	deliveries, err := in.Consume(p.Name, "", !p.Confirm, false, false, false, nil)
	if err != nil {
		return err
	}
	out, err := rabbitChannel(p)
	if err != nil {
		return err
	}
	defer out.close()
	started()
	go rabbitConsume(deliveries, p.Confirm, b)
	if p.Confirm {
		return rabbitConfirmed(ctx, out.Channel, p, b)
	}
	p.sendAll(ctx, b, 1, func(body []byte) {
		b.answered(ctx, out.PublishWithContext(ctx, "", p.Name, false, false, amqp.Publishing{DeliveryMode: amqp.Transient, Body: body}))
	})
	return nil
}

type rabbitEnd struct {
	*amqp.Channel
	conn *amqp.Connection
}

func rabbitChannel(p loopPlan) (rabbitEnd, error) {
	conn, err := amqp.Dial("amqp://guest:guest@" + p.Address + "/")
	if err != nil {
		return rabbitEnd{}, err
	}
	ch, err := conn.Channel()
	return rabbitEnd{ch, conn}, err
}

func (e rabbitEnd) close() { _ = e.conn.CloseDeadline(time.Now().Add(2 * time.Second)) }

func rabbitConfirmed(ctx context.Context, ch *amqp.Channel, p loopPlan, b *books) error {
	if err := ch.Confirm(false); err != nil {
		return err
	}
	pending := make(chan *amqp.DeferredConfirmation, p.Window-1) // and the one being waited for
	defer close(pending)
	go func() {
		for c := range pending {
			if c.Wait() {
				b.published.Add(1)
			}
		}
	}()
	p.sendAll(ctx, b, 1, func(body []byte) {
		c, err := ch.PublishWithDeferredConfirm("", p.Name, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: body})
		if err != nil {
			b.answered(ctx, err)
			return
		}
		pending <- c
	})
	return nil
}

func rabbitConsume(deliveries <-chan amqp.Delivery, acknowledge bool, b *books) {
	unacked := 0
	for d := range deliveries {
		b.arrived(d.Body)
		if unacked++; acknowledge && unacked == rabbitAckEvery {
			_ = d.Ack(true) // a lost connection shows at the producer
			unacked = 0
		}
	}
}
