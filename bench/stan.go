package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/stan.go"

	"github.com/brokermark/brokermark/internal/provision"
)

const stanBench = "github.com/nats-io/stan.go/examples/stan-bench"

const plainStan = "bare stan.go, plain subscription"

// stanRun is one running server.
type stanRun struct {
	b        *bench
	address  string
	bench    string // stan-bench
	channels int
	messages int64 // of every run; 0 until the unrecorded one has told what takes the measured time
}

func (b *bench) stanPeak(ctx context.Context) error {
	program, err := built(ctx, b.host, stan.Version, stanBench)
	if err != nil {
		return err
	}
	for _, store := range []string{"memory", "file"} {
		// Nothing but age takes a message out of a channel that every run makes anew.
		server := map[string]any{"streaming.store": store, "streaming.file.sync": false, "streaming.store_limits.max_age": "30s"}
		err := b.with(ctx, provision.Options{Broker: "nats-streaming", Server: server}, func(in *provision.Instance) error {
			r := &stanRun{b: b, address: in.Addresses()[0], bench: program}
			return r.compare(ctx, store)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *stanRun) compare(ctx context.Context, store string) error {
	s := section{
		Title: "NATS Streaming, 100 B, " + store + " store", oneMode: true,
		Settings: fmt.Sprintf("1 channel; 1 producer, %d may be unacknowledged; 1 consumer in a durable queue group, at most %d in flight, "+
			"every message acknowledged (stan-bench: by the client itself, not durable, no latency taken)", stanWindow, stan.DefaultMaxInflight),
	}
	return r.b.compare(ctx, s, []contender{
		{"bare stan.go", r.bare},
		{"Brokermark", r.through},
		{"stan-bench", r.peer},
		{plainStan, r.plain},
	}, []target{
		{of: "Brokermark", against: "bare stan.go", rate: 0.9, cpu: 1.15},
		{of: "Brokermark", against: "stan-bench", rate: 0.9},
		{of: plainStan, against: "stan-bench", rate: 0.9},
	}, nil)
}

func (r *stanRun) bare(ctx context.Context) (sample, error) {
	s, err := r.b.bare(ctx, r.loop())
	if r.messages == 0 {
		r.messages = r.b.enough(s)
	}
	return s, err
}

// plain is the bare loop with stan-bench's subscription: what the durable group costs is the difference to bare.
func (r *stanRun) plain(ctx context.Context) (sample, error) {
	loop := r.loop()
	loop.Plain = true
	return r.b.bare(ctx, loop)
}

func (r *stanRun) loop() loopPlan {
	return loopPlan{Client: "stan", Address: r.address, Name: r.channel(), Window: stanWindow, Confirm: true, Messages: r.messages}
}

func (r *stanRun) channel() string {
	r.channels++
	return fmt.Sprintf("bench-%d", r.channels)
}

// through asks for no persistence: of an attached server it can't be told, and it costs the generator nothing.
func (r *stanRun) through(ctx context.Context) (sample, error) {
	return r.b.through(ctx, r.address, "nats-streaming", r.messages, "delivery=at-least-once", "persistence=memory",
		fmt.Sprintf("inFlight.messages=%d", stanWindow), fmt.Sprintf("client.MaxInflight=%d", stan.DefaultMaxInflight))
}

// peer runs stan-bench, which is nats-bench for channels and reports as that does.
func (r *stanRun) peer(ctx context.Context) (sample, error) {
	channel := r.channel()
	w, err := watch(ctx, nil, r.bench, "-s", "nats://"+r.address, "-c", stanCluster, "-id", channel, "-np", "1", "-ns", "1", "-io",
		"-mpa", strconv.Itoa(stanWindow), "-n", strconv.FormatInt(r.messages, 10), "-ms", strconv.Itoa(messageSize), channel)
	if err != nil {
		return sample{}, err
	}
	s := sample{CPU: w.total.Seconds() / float64(r.messages) * 1e6, Memory: w.memory}
	for _, l := range w.lines {
		if m := natsBoth.FindStringSubmatch(l.text); m != nil {
			both, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
			s.Rate = both / 2
		}
	}
	if s.Rate == 0 {
		return s, errors.New("stan-bench printed no rate")
	}
	s.Cores = s.CPU * s.Rate / 1e6
	return s, nil
}
