package main

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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
	body := bodies(1, p.Size)[0] // copied by PublishAsync
	for i, began := int64(0), time.Now(); p.more(ctx, i, began); i++ {
		stamp(body, time.Now())
		if _, err := publish.PublishAsync(p.Name, body, jetstream.WithStallWait(10*time.Second)); err != nil {
			return err
		}
		b.published.Add(1)
	}
	<-ctx.Done()
	return nil
}
