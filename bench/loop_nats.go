package main

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/stan.go"
)

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
