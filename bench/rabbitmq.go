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

func (b *bench) rabbitPeak(ctx context.Context) error {
	dir, err := installed(ctx, b.host, "perf-test", perfTestVersion, func(ctx context.Context, i *provision.Install) error {
		return i.Maven(ctx, locks, perfTest)
	})
	if err != nil {
		return err
	}
	return b.with(ctx, provision.Options{Broker: "rabbitmq"}, func(in *provision.Instance) error {
		r := &peakRun{
			b: b, broker: "rabbitmq", bareName: "bare amqp091-go", address: in.Addresses()[0],
			plan: loopPlan{Client: "rabbitmq", Window: rabbitWindow},
			sets: []string{"delivery=at-most-once"},
		}
		peer := contender{"PerfTest", func(ctx context.Context) (sample, error) { return r.perfTest(ctx, filepath.Join(dir, "lib", "*")) }}
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
func (r *peakRun) perfTest(ctx context.Context, classPath string) (sample, error) {
	args := []string{
		"-cp", classPath, "com.rabbitmq.perf.PerfTest", "--uri", "amqp://guest:guest@" + r.address,
		"--producers", "1", "--consumers", "1", "--size", strconv.Itoa(messageSize), "--queue", r.topic(),
		"--auto-delete", "true", "--interval", "1",
	}
	if r.plan.Confirm {
		args = append(args, "--flag", "persistent", "--confirm", strconv.Itoa(rabbitWindow),
			"--qos", strconv.Itoa(rabbitPrefetch), "--multi-ack-every", strconv.Itoa(rabbitAckEvery))
	} else {
		args = append(args, "--autoack")
	}
	warm := func(elapsed time.Duration, _ float64) bool { return elapsed >= perfTestWarm }
	return r.b.jvm(ctx, perfTestReport, warm, "java", args...)
}
