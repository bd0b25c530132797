package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

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

// kafkaRun is one running server, with the last topic's number.
type kafkaRun struct {
	b       *bench
	address string
	lib     string
	admin   *kadm.Client
	topics  int
	// messages of every run through the whole path; 0 until the unrecorded one has told what takes the measured time
	messages int64
}

func (b *bench) kafka(ctx context.Context, do func(k *kafkaRun) error) error {
	install, err := b.host.Install(ctx, "kafka", "")
	if err != nil {
		return err
	}
	return b.with(ctx, provision.Options{Broker: "kafka", Server: kafkaServer}, func(in *provision.Instance) error {
		client, err := kgo.NewClient(kgo.SeedBrokers(in.Addresses()...))
		if err != nil {
			return err
		}
		defer client.Close()
		return do(&kafkaRun{
			b: b, address: in.Addresses()[0], lib: filepath.Join(install, "lib", "*"), admin: kadm.NewClient(client),
		})
	})
}

func (b *bench) kafkaPeak(ctx context.Context) error {
	return b.kafka(ctx, func(k *kafkaRun) error {
		s := section{
			Title: "Kafka, 100 B",
			Settings: fmt.Sprintf("1 topic, 1 partition, 1 producer; acks=1, no idempotence, no compression, batch.size %d, linger.ms %d, "+
				"5 requests in flight; %d messages may be unconfirmed (ProducerPerformance: its default buffer.memory, 32 MiB); "+
				"1 consumer group of 1 with offsets committed in the background, where consuming", kafkaBatch, kafkaLinger.Milliseconds(), kafkaWindow),
		}
		return b.compare(ctx, s, []contender{
			{"bare franz-go", k.bare},
			{"Brokermark", k.through},
			{"ProducerPerformance (produce only)", k.producerPerformance},
			{"Brokermark, produce only", k.produceOnly},
		}, []target{
			{of: "Brokermark", against: "bare franz-go", rate: 0.9, cpu: 1.15},
			{of: "Brokermark, produce only", against: "ProducerPerformance (produce only)", rate: 1.2, cpu: 0.7},
		}, k.clear)
	})
}

func (k *kafkaRun) bare(ctx context.Context) (sample, error) {
	topic, err := k.topic(ctx)
	if err != nil {
		return sample{}, err
	}
	s, err := k.b.bare(ctx, loopPlan{Client: "kafka", Address: k.address, Name: topic, Window: kafkaWindow, Messages: k.messages})
	if k.messages == 0 {
		k.messages = k.b.enough(s)
	}
	return s, err
}

func (k *kafkaRun) settings() []string {
	return []string{
		"acks=leader", fmt.Sprintf("client.linger.ms=%d", kafkaLinger.Milliseconds()), fmt.Sprintf("client.batch.size=%d", kafkaBatch),
	}
}

func (k *kafkaRun) through(ctx context.Context) (sample, error) {
	return k.b.through(ctx, k.address, "kafka", k.messages, append(k.settings(), fmt.Sprintf("inFlight.messages=%d", kafkaWindow))...)
}

func (k *kafkaRun) produceOnly(ctx context.Context) (sample, error) {
	sets := append(k.settings(), fmt.Sprintf("inFlight.messages=%d", kafkaWindow), "subscriptionsPerTopic=0")
	return k.b.steady(ctx, k.address, "kafka", sets, "--measure", "peak")
}

// producerPerformance runs with the memory and collector of Kafka's own start script for it.
func (k *kafkaRun) producerPerformance(ctx context.Context) (sample, error) {
	topic, err := k.topic(ctx)
	if err != nil {
		return sample{}, err
	}
	warm := func(elapsed time.Duration, records float64) bool {
		return records >= warmRecords && elapsed >= warmTime || elapsed > 30*time.Second
	}
	return k.b.jvm(ctx, producerPerformance, warm, "java",
		"-Xmx512M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
		"-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true", "-cp", k.lib,
		"org.apache.kafka.tools.ProducerPerformance", "--bootstrap-server", k.address, "--topic", topic,
		"--num-records", "2000000000", "--record-size", strconv.Itoa(messageSize), "--throughput", "-1", "--reporting-interval", "1000",
		"--command-property", "acks=1", "enable.idempotence=false", "compression.type=none", "max.in.flight.requests.per.connection=5",
		fmt.Sprintf("linger.ms=%d", kafkaLinger.Milliseconds()), fmt.Sprintf("batch.size=%d", kafkaBatch))
}

// topic makes a topic as our driver makes it.
func (k *kafkaRun) topic(ctx context.Context) (string, error) {
	k.topics++
	name := fmt.Sprintf("bench-%d", k.topics)
	size := strconv.Itoa(100<<20 - 4096)
	r, err := k.admin.CreateTopic(ctx, 1, 1, map[string]*string{"max.message.bytes": &size}, name)
	if err == nil {
		err = r.Err
	}
	return name, err
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
