package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	pulsarWindow   = 10_000 // messages without an answer
	pulsarQueue    = 1000   // messages a consumer asks for ahead
	pulsarPerfWarm = 15 * time.Second
	pulsarPerfRest = 5 * time.Second // it runs for longer than it is looked at
)

// pulsarRun is one running server.
type pulsarRun struct {
	*peakRun
	admin string // URL
	lib   string // class path
}

func (b *bench) pulsarPeak(ctx context.Context) error {
	install, err := b.host.Install(ctx, "pulsar", "")
	if err != nil {
		return err
	}
	return b.with(ctx, provision.Options{Broker: "pulsar"}, func(in *provision.Instance) error {
		admin := in.Endpoints()["admin"]
		r := &pulsarRun{admin: admin, lib: filepath.Join(install, "lib", "*"), peakRun: &peakRun{
			b: b, broker: "pulsar", bareName: "bare pulsar-client-go", address: in.Addresses()[0],
			plan: loopPlan{Client: "pulsar", Window: pulsarWindow},
			sets: []string{
				"delivery=at-least-once", "persistence=log", "ordering=unordered", fmt.Sprintf("inFlight.messages=%d", pulsarWindow),
				"client.batchingMaxPublishDelay=" + pulsarDelay.String(), fmt.Sprintf("client.receiverQueueSize=%d", pulsarQueue),
				"client.webServiceUrl=" + admin,
			},
		}}
		return r.compare(ctx, section{
			Title: "Pulsar, 100 B",
			Settings: fmt.Sprintf("1 standalone server, 1 persistent topic, journalSyncData=false; 1 producer, batches up to 1,000 messages, 128 KiB or %v, "+
				"%d messages may be unanswered, no compression; 1 Shared consumer, receiver queue %d, acknowledgements gathered for 100 ms, where consuming; "+
				"pulsar-perf's messages are counted by the broker", pulsarDelay, pulsarWindow, pulsarQueue),
		}, []contender{{"pulsar-perf (produce only)", r.perf}, r.produceOnly()})
	})
}

// perf runs the broker's own tool for a while and looks at a part of it from outside: its summary divides by its whole
// life, so the messages are those that the broker has counted.
func (r *pulsarRun) perf(ctx context.Context) (sample, error) {
	topic := r.topic()
	length := pulsarPerfWarm + r.b.measure + pulsarPerfRest
	seen := make(chan counted, 1)
	go func() { seen <- r.watchTopic(ctx, topic) }()
	// Memory and options are those of its own start script.
	w, err := watch(ctx, nil, "java", "-Xmx512m", "-XX:MaxDirectMemorySize=1g", "-Dio.netty.tryReflectionSetAccessible=true",
		"--add-opens", "java.base/java.nio=ALL-UNNAMED", "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens", "java.base/java.util.zip=ALL-UNNAMED",
		"-cp", r.lib, "org.apache.pulsar.testclient.PulsarPerfTestTool", "/dev/null", "produce",
		"--service-url", "pulsar://"+r.address, "--size", strconv.Itoa(messageSize), "--rate", "100000000",
		"--max-outstanding", strconv.Itoa(pulsarWindow), "--batch-time-window", strconv.Itoa(int(pulsarDelay.Milliseconds())),
		"--batch-max-messages", "1000", "--batch-max-bytes", strconv.Itoa(128<<10), "--num-producers", "1", "--test-duration", strconv.Itoa(int(length.Seconds())),
		"persistent://public/default/"+topic)
	if err != nil {
		return sample{}, err
	}
	c := <-seen
	if c.err != nil {
		return sample{}, fmt.Errorf("pulsar-perf: %w\n%s", c.err, w.errors)
	}
	s := sample{Rate: c.messages / c.until.Sub(c.from).Seconds(), Memory: w.memory, Note: fmt.Sprintf("warm after %v", pulsarPerfWarm)}
	if s.Cores, err = w.cores(c.from, c.until); err != nil {
		return s, fmt.Errorf("pulsar-perf: %w", err)
	}
	s.CPU = perMillion(s.Cores, s.Rate)
	return s, nil
}

// counted is how many messages a topic has taken in a time.
type counted struct {
	from, until time.Time
	messages    float64
	err         error
}

// watchTopic counts for as long as is measured, after pulsar-perf has had the time to get warm.
func (r *pulsarRun) watchTopic(ctx context.Context, topic string) (c counted) {
	if c.err = clock.Pause(ctx, pulsarPerfWarm); c.err != nil {
		return c
	}
	var before, after float64
	if before, c.from, c.err = r.count(ctx, topic); c.err != nil {
		return c
	}
	if c.err = clock.Pause(ctx, r.b.measure); c.err != nil {
		return c
	}
	after, c.until, c.err = r.count(ctx, topic)
	c.messages = after - before
	return c
}

// count asks the broker how many messages it has taken for a topic.
func (r *pulsarRun) count(ctx context.Context, topic string) (float64, time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.admin+"/admin/v2/persistent/public/default/"+topic+"/stats", nil)
	if err != nil {
		return 0, time.Time{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, time.Time{}, err
	}
	defer response.Body.Close()
	var stats struct{ MsgInCounter *float64 }
	err = json.NewDecoder(response.Body).Decode(&stats)
	if err != nil || stats.MsgInCounter == nil {
		return 0, time.Time{}, fmt.Errorf("the broker tells no count for %s: %s (%w)", topic, response.Status, err)
	}
	return *stats.MsgInCounter, time.Now(), nil
}

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
