package main

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// kafkaLoop is franz-go with the settings of our driver's defaults: batches up to 1 MB, 1 ms linger, acks=1, five
// requests in flight, a consumer group of one that commits in the background. Records and their payloads are used
// again, and the one clock reading per message is the one the client would make itself for the record's timestamp.
func kafkaLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	producer, err := kgo.NewClient(
		kgo.SeedBrokers(p.Address), kgo.DefaultProduceTopic(p.Name), kgo.DisableClientMetrics(),
		kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(5),
		kgo.ProducerLinger(kafkaLinger), kgo.ProducerBatchMaxBytes(kafkaBatch),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(p.Window))
	if err != nil {
		return err
	}
	defer producer.Close()
	assigned := sync.OnceFunc(started)
	consumer, err := kgo.NewClient(
		kgo.SeedBrokers(p.Address), kgo.ConsumeTopics(p.Name), kgo.ConsumerGroup(p.Name), kgo.DisableClientMetrics(),
		kgo.FetchMaxWait(500*time.Millisecond), kgo.FetchMaxPartitionBytes(1<<20),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { assigned() }))
	if err != nil {
		return err
	}
	defer consumer.Close()

	var consuming sync.WaitGroup
	defer consuming.Wait()
	consuming.Go(func() { kafkaConsume(ctx, consumer, b) })
	kafkaProduce(ctx, producer, p, b)
	return nil
}

func kafkaProduce(ctx context.Context, client *kgo.Client, p loopPlan, b *books) {
	promise := func(_ *kgo.Record, err error) { b.answered(ctx, err) }
	// The client never holds more than the window, and promises come in the order of one partition: a record twice
	// the window back is done.
	records := make([]kgo.Record, 2*p.Window)
	for i, body := range bodies(len(records), p.Size) {
		records[i].Value = body
	}
	for i, began := int64(0), time.Now(); p.more(ctx, i, began); i++ {
		r := &records[i%int64(len(records))]
		now := time.Now()
		stamp(r.Value, now)
		r.Timestamp = now
		client.Produce(ctx, r, promise)
	}
	<-ctx.Done()
}

func kafkaConsume(ctx context.Context, client *kgo.Client, b *books) {
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		now := time.Now().UnixNano()
		n := int64(0)
		fetches.EachRecord(func(r *kgo.Record) {
			b.took(now, r.Value)
			n++
		})
		b.received.Add(n)
	}
}
