package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/stan.go"

	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

func (b *bench) natsPeak(ctx context.Context) error {
	return b.with(ctx, provision.Options{Broker: "nats"}, func(in *provision.Instance) error {
		r := &peakRun{
			b: b, broker: "nats", bareName: "bare nats.go", address: in.Addresses()[0],
			plan: loopPlan{Client: "nats", Name: "bench.bare"}, // nothing is kept that the next run would find
		}
		peer := contender{"nats-bench", func(ctx context.Context) (sample, error) {
			c, err := r.tool(ctx, "nats-bench", maker.Point{Topic: "bench.peer", Producers: 1, Subscriptions: []string{"s0"}, Consumers: 1, Messages: r.messages})
			if err != nil {
				return sample{}, err
			}
			return r.goTool(ctx, c.Path, c.Args...)
		}}
		return r.compare(ctx, section{
			Title: "NATS core, 100 B",
			Settings: fmt.Sprintf("1 subject; 1 publisher, write buffer %d B (the client's default); 1 subscriber, at most %d messages waiting "+
				"(nats-bench: no limit, no latency taken)", nats.DefaultWriteBufSize, nats.DefaultSubPendingMsgsLimit),
		}, []contender{peer}, target{of: tunedProgram, against: peer.name, rate: 0.9})
	})
}

var natsBoth = regexp.MustCompile(`Pub/Sub stats: ([\d,]+) msgs/sec`)

// goTool runs nats-bench or stan-bench. They are Go programs: there is nothing to warm up, and the processor time is of the
// whole process. Their first line counts every message twice, sent and received, over the time from the first to the last:
// "Pub/Sub stats: 2,000,000 msgs/sec" is 1,000,000/s through the whole path.
func (r *peakRun) goTool(ctx context.Context, program string, args ...string) (sample, error) {
	w, err := watch(ctx, nil, program, args...)
	if err != nil {
		return sample{}, err
	}
	var rate float64
	for _, l := range w.lines {
		if m := natsBoth.FindStringSubmatch(l.text); m != nil {
			both, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
			rate = both / 2
		}
	}
	if rate == 0 {
		return sample{}, fmt.Errorf("%s printed no rate", filepath.Base(program))
	}
	return w.sample(float64(r.messages), rate), nil
}

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

// natsLoop is nats.go as its users write it: a connection each, a callback in a queue group, the client's own
// limits of what may wait.
func natsLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	options := []nats.Option{nats.WriteBufferSize(nats.DefaultWriteBufSize)}
	in, err := nats.Connect("nats://"+p.Address, options...)
	if err != nil {
		return err
	}
	defer in.Close()
	sub, err := in.QueueSubscribe(p.Name, "s0", func(m *nats.Msg) {
		b.arrived(m.Data)
	})
	if err != nil {
		return err
	}
	if err := sub.SetPendingLimits(nats.DefaultSubPendingMsgsLimit, -1); err != nil {
		return err
	}
	if err := in.Flush(); err != nil {
		return err
	}
	out, err := nats.Connect("nats://"+p.Address, options...)
	if err != nil {
		return err
	}
	defer out.Close()
	started()
	p.sendAll(ctx, b, 1, func(body []byte) { b.answered(ctx, out.Publish(p.Name, body)) })
	return nil
}

const pulledAhead = 2000 // messages

// jetstreamLoop is the jetstream package as its users write it: asynchronous publishes behind the client's own limit,
// a durable pull consumer with a callback, every message acknowledged in it.
func jetstreamLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	in, err := nats.Connect("nats://" + p.Address)
	if err != nil {
		return err
	}
	defer in.Close()
	pull, err := jetstream.New(in)
	if err != nil {
		return err
	}
	stream, err := pull.CreateStream(ctx, jetstream.StreamConfig{
		Name: p.Name, Subjects: []string{p.Name}, Storage: jetstream.MemoryStorage, Retention: jetstream.InterestPolicy,
	})
	if err != nil {
		return err
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "s0", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: 10_000})
	if err != nil {
		return err
	}
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		b.arrived(m.Data())
		_ = m.Ack() // a lost connection shows at the producer
	}, jetstream.PullMaxMessages(pulledAhead))
	if err != nil {
		return err
	}
	defer consuming.Stop()
	out, err := nats.Connect("nats://" + p.Address)
	if err != nil {
		return err
	}
	defer out.Close()
	publish, err := jetstream.New(out, jetstream.WithPublishAsyncMaxPending(p.Window))
	if err != nil {
		return err
	}
	started()
	p.sendAll(ctx, b, 1, func(body []byte) {
		_, err := publish.PublishAsync(p.Name, body, jetstream.WithStallWait(10*time.Second))
		b.answered(ctx, err)
	})
	return nil
}

const (
	stanCluster = "test-cluster"
	stanWindow  = 1000 // unacknowledged messages
)

// stanLoop is stan.go as its users write it: a client each for producer and consumer, a durable queue group, every
// message acknowledged after its callback.
func stanLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	in, err := stan.Connect(stanCluster, p.Name+"-in", stan.NatsURL("nats://"+p.Address))
	if err != nil {
		return err
	}
	defer in.Close()
	deliver := func(m *stan.Msg) {
		b.arrived(m.Data)
		if !p.Plain {
			_ = m.Ack() // a lost connection shows at the producer
		}
	}
	if p.Plain {
		_, err = in.Subscribe(p.Name, deliver)
	} else {
		_, err = in.QueueSubscribe(p.Name, "s0", deliver, stan.DurableName("s0"), stan.SetManualAckMode(), stan.MaxInflight(stan.DefaultMaxInflight))
	}
	if err != nil {
		return err
	}
	out, err := stan.Connect(stanCluster, p.Name+"-out", stan.NatsURL("nats://"+p.Address), stan.MaxPubAcksInflight(p.Window))
	if err != nil {
		return err
	}
	defer out.Close()
	started()
	acked := func(_ string, err error) { b.answered(ctx, err) }
	p.sendAll(ctx, b, 1, func(body []byte) {
		if _, err := out.PublishAsync(p.Name, body, acked); err != nil {
			b.answered(ctx, err)
		}
	})
	return nil
}
