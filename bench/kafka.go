package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	kafkaBatch  = 1_000_012
	kafkaLinger = time.Millisecond
	kafkaWindow = 100_000 // messages: ten full batches
	warmRecords = 10e6    // of ProducerPerformance, before anything counts
	warmTime    = 6 * time.Second
)

// kafkaServer lets deleted topics go at once: every run leaves a gigabyte.
var kafkaServer = map[string]any{"log.segment.delete.delay.ms": 500}

// kafkaRun is one running server.
type kafkaRun struct {
	*peakRun
	admin *kadm.Client
}

func (b *bench) kafka(ctx context.Context, do func(k *kafkaRun) error) error {
	return b.with(ctx, provision.Options{Broker: "kafka", Server: kafkaServer}, func(in *provision.Instance) error {
		client, err := kgo.NewClient(kgo.SeedBrokers(in.Addresses()...))
		if err != nil {
			return err
		}
		defer client.Close()
		k := &kafkaRun{admin: kadm.NewClient(client)}
		k.peakRun = &peakRun{
			b: b, broker: "kafka", bareName: "bare franz-go", address: in.Addresses()[0],
			plan: loopPlan{Client: "kafka", Window: kafkaWindow}, create: k.create, after: k.clear,
			sets: append(kafkaBatches(), fmt.Sprintf("inFlight.messages=%d", kafkaWindow)),
		}
		return do(k)
	})
}

// kafkaBatches are the settings under which Brokermark's client batches as the bare loop's does.
func kafkaBatches() []string {
	return []string{
		"acks=leader", fmt.Sprintf("client.linger.ms=%d", kafkaLinger.Milliseconds()), fmt.Sprintf("client.batch.size=%d", kafkaBatch),
	}
}

func (b *bench) kafkaPeak(ctx context.Context) error {
	return b.kafka(ctx, func(k *kafkaRun) error {
		peer, produceOnly := contender{"ProducerPerformance (produce only)", k.producerPerformance}, k.produceOnly()
		return k.compare(ctx, section{
			Title: "Kafka, 100 B",
			Settings: fmt.Sprintf("1 topic, 1 partition, 1 producer; acks=1, no idempotence, no compression, batch.size %d, linger.ms %d, "+
				"5 requests in flight; %d messages may be unconfirmed (ProducerPerformance: its default buffer.memory, 32 MiB); "+
				"1 consumer group of 1 with offsets committed in the background, where consuming", kafkaBatch, kafkaLinger.Milliseconds(), kafkaWindow),
		}, []contender{peer, produceOnly}, target{of: produceOnly.name, against: peer.name, rate: 1.2, cpu: 0.7})
	})
}

func (k *kafkaRun) producerPerformance(ctx context.Context) (sample, error) {
	topic := k.topic()
	if err := k.create(ctx, topic); err != nil {
		return sample{}, err
	}
	warm := func(elapsed time.Duration, records float64) bool {
		return records >= warmRecords && elapsed >= warmTime || elapsed > 30*time.Second
	}
	c, err := k.tool(ctx, "kafka-producer-perf-test", maker.Point{
		Topic: topic, Producers: 1, Messages: 2e9, Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Acks: driver.AcksLeader},
		Client: map[string]any{
			"compression.type": "none", "max.in.flight.requests.per.connection": 5, "linger.ms": kafkaLinger.Milliseconds(), "batch.size": kafkaBatch,
		},
	})
	if err != nil {
		return sample{}, err
	}
	return k.b.jvm(ctx, producerPerformance, warm, c.Path, c.Args...)
}

// create makes a topic as our driver makes it.
func (k *kafkaRun) create(ctx context.Context, name string) error {
	size := strconv.Itoa(100<<20 - 4096)
	r, err := k.admin.CreateTopic(ctx, 1, 1, map[string]*string{"max.message.bytes": &size}, name)
	if err != nil {
		return err
	}
	return r.Err
}

// clear deletes what the last run has left behind, so that every run finds the same empty broker.
func (k *kafkaRun) clear(ctx context.Context) error {
	topics, err := k.admin.ListTopics(ctx)
	if err != nil {
		return err
	}
	var old []string
	for _, name := range topics.Names() {
		if !strings.HasPrefix(name, "__") {
			old = append(old, name)
		}
	}
	_, err = k.admin.DeleteTopics(ctx, old...)
	time.Sleep(2 * time.Second) // the files go in the background
	return err
}

const paceWindow = 10_000 // messages, our default

// pacing takes what fixed rates cost the generator, and how late it sends. The bare loops beside it show what the
// client alone takes of that; they are paced with the runtime's own sleep, half a millisecond late.
func (b *bench) pacing(ctx context.Context) error {
	rates := []struct {
		rate  int
		cores float64
	}{{1_000, 0.06}, {20_000, 0.25}}
	const lag = 300e3 // ns
	return b.kafka(ctx, func(k *kafkaRun) error {
		s := section{
			Title: "Kafka at fixed rates, 100 B",
			Settings: fmt.Sprintf("1 topic, 1 partition, 1 producer; acks=1, batch.size %d, linger.ms %d; 1 consumer, end-to-end latency taken; "+
				"nothing else on the broker", kafkaBatch, kafkaLinger.Milliseconds()),
		}
		var list []contender
		for _, r := range rates {
			list = append(list, contender{fmt.Sprintf("bare franz-go at %d/s", r.rate), func(ctx context.Context) (sample, error) {
				topic := k.topic()
				if err := k.create(ctx, topic); err != nil {
					return sample{}, err
				}
				messages := float64(r.rate) * (b.warmup + b.measure).Seconds()
				return b.bare(ctx, loopPlan{
					Client: "kafka", Address: k.address, Name: topic, Window: paceWindow, Messages: int64(messages), Rate: float64(r.rate),
				})
			}}, contender{fmt.Sprintf("Brokermark at %d/s", r.rate), func(ctx context.Context) (sample, error) {
				return b.steady(ctx, k.address, k.broker, kafkaBatches(), "--measure", "rate", "--rate", strconv.Itoa(r.rate))
			}})
		}
		if err := b.compare(ctx, s, list, nil, k.clear); err != nil {
			return err
		}
		compared := &b.report.Sections[len(b.report.Sections)-1]
		compared.Verdicts = nil // at these rates the books' own cost, a reading every 0.1 s, is too short for 5 % agreement
		for i, r := range rates {
			one := compared.Runs[2*i+1] // behind its bare loop
			compared.bound(one, "share of one core", func(x sample) float64 { return x.Cores }, r.cores, percentForm)
			compared.bound(one, "p99 of schedule lag", func(x sample) float64 { return float64(x.Lag) }, lag, timeForm)
		}
		return nil
	})
}

// bound judges the median of one figure.
func (s *section) bound(r runs, what string, of func(sample) float64, bound float64, f form) {
	s.Verdicts = append(s.Verdicts, atMost(s.Title+": "+r.Name+", "+what, each(r.Samples, of), bound, f))
}

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
