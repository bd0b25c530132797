package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/stan.go"

	"github.com/brokermark/brokermark/internal/provision"
)

const stanBench = "github.com/nats-io/stan.go/examples/stan-bench"

func (b *bench) stanPeak(ctx context.Context) error {
	program, err := built(ctx, b.host, stan.Version, stanBench)
	if err != nil {
		return err
	}
	for _, store := range []string{"memory", "file"} {
		// Nothing but age takes a message out of a channel that every run makes anew.
		server := map[string]any{"streaming.store": store, "streaming.file.sync": false, "streaming.store_limits.max_age": "30s"}
		err := b.with(ctx, provision.Options{Broker: "nats-streaming", Server: server}, func(in *provision.Instance) error {
			return b.stanStore(ctx, in.Addresses()[0], store, program)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) stanStore(ctx context.Context, address, store, program string) error {
	r := &peakRun{
		b: b, broker: "nats-streaming", bareName: "bare stan.go", address: address,
		plan: loopPlan{Client: "stan", Window: stanWindow, Confirm: true},
		// No persistence is asked for: of an attached server it can't be told, and it costs the generator nothing.
		sets: []string{
			"delivery=at-least-once", "persistence=memory",
			fmt.Sprintf("inFlight.messages=%d", stanWindow), fmt.Sprintf("client.MaxInflight=%d", stan.DefaultMaxInflight),
		},
	}
	peer := contender{"stan-bench", func(ctx context.Context) (sample, error) {
		channel := r.topic()
		return r.goTool(ctx, program, "-s", "nats://"+address, "-c", stanCluster, "-id", channel, "-np", "1", "-ns", "1", "-io",
			"-mpa", strconv.Itoa(stanWindow), "-n", strconv.FormatInt(r.messages, 10), "-ms", strconv.Itoa(messageSize), channel)
	}}
	// The bare loop with stan-bench's subscription: what the durable group costs is the difference to the other bare loop.
	plain := contender{"bare stan.go, plain subscription", func(ctx context.Context) (sample, error) {
		plan := r.plan
		plan.Address, plan.Name, plan.Messages, plan.Plain = address, r.topic(), r.messages, true
		return b.bare(ctx, plan)
	}}
	return r.compare(ctx, section{
		Title: "NATS Streaming, 100 B, " + store + " store", oneMode: true,
		Settings: fmt.Sprintf("1 channel; 1 producer, %d may be unacknowledged; 1 consumer in a durable queue group, at most %d in flight, "+
			"every message acknowledged (stan-bench: by the client itself, not durable, no latency taken)", stanWindow, stan.DefaultMaxInflight),
	}, []contender{peer, plain},
		target{of: tunedProgram, against: peer.name, rate: 0.9},
		target{of: plain.name, against: peer.name, rate: 0.9})
}
