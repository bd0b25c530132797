package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

const (
	rabbitPrefetch = 1000
	rabbitAckEvery = 100
	rabbitWindow   = 1000 // unconfirmed messages
	perfTestWarm   = 10 * time.Second
)

// rabbitRun is one running server.
type rabbitRun struct {
	b        *bench
	address  string
	perfTest string // class path
	queues   int
	messages int64 // of every run; 0 until the unrecorded one has told what takes the measured time
}

func (b *bench) rabbitPeak(ctx context.Context) error {
	dir, err := installed(ctx, b.host, "perf-test", perfTestVersion, func(ctx context.Context, i *provision.Install) error {
		return i.Maven(ctx, locks, perfTest)
	})
	if err != nil {
		return err
	}
	return b.with(ctx, provision.Options{Broker: "rabbitmq"}, func(in *provision.Instance) error {
		r := &rabbitRun{b: b, address: in.Addresses()[0], perfTest: filepath.Join(dir, "lib", "*")}
		if err := r.compare(ctx, false); err != nil {
			return err
		}
		r.messages = 0
		return r.compare(ctx, true)
	})
}

func (r *rabbitRun) compare(ctx context.Context, confirm bool) error {
	s := section{
		Title:    "RabbitMQ, 100 B, no confirms",
		Settings: "1 classic queue, not durable, default exchange; 1 producer, transient messages, no confirms; 1 consumer, automatic acknowledgement",
	}
	if confirm {
		s = section{
			Title: "RabbitMQ, 100 B, confirms",
			Settings: fmt.Sprintf("1 durable classic queue, default exchange; 1 producer, persistent messages, %d may be unconfirmed; "+
				"1 consumer, prefetch %d, one acknowledgement for %d messages", rabbitWindow, rabbitPrefetch, rabbitAckEvery),
		}
	}
	return r.b.compare(ctx, s, []contender{
		{"bare amqp091-go", func(ctx context.Context) (sample, error) { return r.bare(ctx, confirm) }},
		{"Brokermark", func(ctx context.Context) (sample, error) { return r.through(ctx, confirm) }},
		{"PerfTest", func(ctx context.Context) (sample, error) { return r.peer(ctx, confirm) }},
	}, []target{
		{of: "Brokermark", against: "bare amqp091-go", rate: 0.9, cpu: 1.15},
		{of: "Brokermark", against: "PerfTest", rate: 0.95, cpu: 1.1},
	}, nil)
}

func (r *rabbitRun) bare(ctx context.Context, confirm bool) (sample, error) {
	s, err := r.b.bare(ctx, loopPlan{
		Client: "rabbitmq", Address: r.address, Name: r.queue(), Window: rabbitWindow, Confirm: confirm, Messages: r.messages,
	})
	if r.messages == 0 {
		r.messages = r.b.enough(s)
	}
	return s, err
}

func (r *rabbitRun) queue() string {
	r.queues++
	return fmt.Sprintf("bench-%d", r.queues)
}

func (r *rabbitRun) through(ctx context.Context, confirm bool) (sample, error) {
	sets := []string{"delivery=at-most-once"}
	if confirm {
		sets = []string{
			"delivery=at-least-once", "persistence=log", fmt.Sprintf("inFlight.messages=%d", rabbitWindow),
			fmt.Sprintf("client.prefetch=%d", rabbitPrefetch), fmt.Sprintf("client.ack.every=%d", rabbitAckEvery),
		}
	}
	return r.b.through(ctx, r.address, "rabbitmq", r.messages, sets...)
}

func (r *rabbitRun) peer(ctx context.Context, confirm bool) (sample, error) {
	args := []string{
		"-cp", r.perfTest, "com.rabbitmq.perf.PerfTest", "--uri", "amqp://guest:guest@" + r.address,
		"--producers", "1", "--consumers", "1", "--size", strconv.Itoa(messageSize), "--queue", r.queue(),
		"--auto-delete", "true", "--interval", "1",
	}
	if confirm {
		args = append(args, "--flag", "persistent", "--confirm", strconv.Itoa(rabbitWindow),
			"--qos", strconv.Itoa(rabbitPrefetch), "--multi-ack-every", strconv.Itoa(rabbitAckEvery))
	} else {
		args = append(args, "--autoack")
	}
	warm := func(elapsed time.Duration, _ float64) bool { return elapsed >= perfTestWarm }
	return r.b.jvm(ctx, perfTestReport, warm, "java", args...)
}
