package main

import (
	"context"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
)

const pulsarDelay = time.Millisecond // of a batch

// pulsarLoop is pulsar-client-go with the settings of our driver's defaults: a client each for producer and consumer,
// batches of up to 1,000 messages, 128 KiB or 1 ms, a Shared subscription, every message acknowledged by itself, which
// the client gathers. Messages and their payloads are used again.
func pulsarLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	topic := "persistent://public/default/" + p.Name
	in, err := pulsarClient(p)
	if err != nil {
		return err
	}
	defer in.Close()
	consumer, err := in.Subscribe(pulsar.ConsumerOptions{
		Topic: topic, SubscriptionName: "s", Type: pulsar.Shared, SubscriptionInitialPosition: pulsar.SubscriptionPositionEarliest,
		ReceiverQueueSize: pulsarQueue,
	})
	if err != nil {
		return err
	}
	defer consumer.Close()
	out, err := pulsarClient(p)
	if err != nil {
		return err
	}
	defer out.Close()
	producer, err := out.CreateProducer(pulsar.ProducerOptions{
		Topic: topic, MaxPendingMessages: p.Window, BatchingMaxPublishDelay: pulsarDelay, SendTimeout: -1,
	})
	if err != nil {
		return err
	}
	defer producer.Close()
	started()
	go pulsarConsume(ctx, consumer, b)
	pulsarProduce(ctx, producer, p, b)
	return nil
}

func pulsarClient(p loopPlan) (pulsar.Client, error) {
	return pulsar.NewClient(pulsar.ClientOptions{
		URL: "pulsar://" + p.Address, Logger: log.DefaultNopLogger(), MemoryLimitBytes: -1, MetricsCardinality: pulsar.MetricsCardinalityNone,
	})
}

func pulsarProduce(ctx context.Context, producer pulsar.Producer, p loopPlan, b *books) {
	answered := func(_ pulsar.MessageID, _ *pulsar.ProducerMessage, err error) { b.answered(ctx, err) }
	// The client takes no more than the window, and answers in order: a message twice the window back is done.
	messages := make([]pulsar.ProducerMessage, 2*p.Window)
	for i, body := range bodies(len(messages), p.Size) {
		messages[i].Payload = body
	}
	for i, began := int64(0), time.Now(); p.more(ctx, i, began); i++ {
		m := &messages[i%int64(len(messages))]
		stamp(m.Payload, time.Now())
		producer.SendAsync(context.Background(), m, answered)
	}
	<-ctx.Done()
}

func pulsarConsume(ctx context.Context, consumer pulsar.Consumer, b *books) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-consumer.Chan():
			if m.Message == nil { // the consumer is closed
				return
			}
			b.arrived(m.Payload())
			_ = consumer.AckID(m.ID()) // gathered; a lost connection shows at the producer
		}
	}
}
