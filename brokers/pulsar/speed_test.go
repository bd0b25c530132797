package pulsar

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	speedWindow = 10_000
	speedSize   = 100
)

// BenchmarkSpeed compares the driver with the least that a program over the same client needs, at the same settings;
// one iteration is one message produced, confirmed, consumed and acknowledged. Use -benchtime=1000000x.
func BenchmarkSpeed(b *testing.B) {
	host, err := provision.NewHost(provision.DefaultDir(), b.Logf)
	if err != nil {
		b.Fatal(err)
	}
	in, err := host.Start(b.Context(), provision.Options{Broker: "pulsar", Deadline: 3 * time.Minute})
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		b.Skipf("Pulsar can't be installed here: %v", err)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = in.Stop(context.Background()) }()
	for _, kind := range []string{"Shared", "Failover"} {
		b.Run("bare/"+kind, func(b *testing.B) { bare(b, in.Addresses()[0], types[kind]) })
		b.Run("driver/"+kind, func(b *testing.B) { driven(b, in, kind) })
	}
}

func bare(b *testing.B, address string, kind client.SubscriptionType) {
	c, err := client.NewClient(client.ClientOptions{URL: "pulsar://" + address, Logger: log.DefaultNopLogger(), MemoryLimitBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	topic := "persistent://public/default/" + time.Now().Format("speed-150405.000000")
	consumer, err := c.Subscribe(client.ConsumerOptions{
		Topic: topic, SubscriptionName: "s", Type: kind, SubscriptionInitialPosition: client.SubscriptionPositionEarliest,
	})
	if err != nil {
		b.Fatal(err)
	}
	producer, err := c.CreateProducer(client.ProducerOptions{Topic: topic, MaxPendingMessages: speedWindow, BatchingMaxPublishDelay: time.Millisecond})
	if err != nil {
		b.Fatal(err)
	}
	messages := make([]client.ProducerMessage, 2*speedWindow)
	for i := range messages {
		messages[i].Payload = make([]byte, speedSize)
	}
	var failed atomic.Int64
	b.ResetTimer()
	go func() {
		answer := func(_ client.MessageID, _ *client.ProducerMessage, err error) {
			if err != nil {
				failed.Add(1)
			}
		}
		for i := range b.N {
			producer.SendAsync(context.Background(), &messages[i%len(messages)], answer)
		}
	}()
	for range b.N {
		m := <-consumer.Chan()
		_ = consumer.AckID(m.ID())
	}
	b.StopTimer()
	producer.Close()
	consumer.Close()
	if n := failed.Load(); n > 0 {
		b.Fatalf("%d messages failed", n)
	}
}

// window is Receipts and Sink of the driver's side.
type window struct {
	free     chan uint32
	received atomic.Int64
	want     int64
	all      chan struct{}
	failed   atomic.Int64
}

func (w *window) Done(slots []uint32, err error) {
	if err != nil {
		w.failed.Add(int64(len(slots)))
	}
	for _, slot := range slots {
		w.free <- slot
	}
}

func (w *window) Deliver(batch [][]byte) {
	if w.received.Add(int64(len(batch))) == w.want {
		close(w.all)
	}
}

func driven(b *testing.B, in *provision.Instance, kind string) {
	values := func(scope driver.Scope, given map[string]any) driver.Values {
		v, err := driver.Decode(settings, scope, given)
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
	g := atLeast
	g.Ordering = driver.Unordered
	d, err := open(b.Context(), driver.Config{
		Target: target(in), Guarantee: g,
		Client: values(driver.ClientScope, map[string]any{"subscriptionType": kind}), Topic: values(driver.TopicScope, nil),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if err := d.Setup(b.Context(), driver.Topology{Topics: []driver.Topic{{Name: "speed", Partitions: 1}}, Subscriptions: []string{"s"}}); err != nil {
		b.Fatal(err)
	}
	w := &window{free: make(chan uint32, speedWindow), want: int64(b.N), all: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- d.Consume(ctx, driver.ConsumerConfig{}, w, func() { close(ready) }) }()
	<-ready
	producer, err := d.Producer(b.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: speedWindow, MaxBytes: speedSize}, w)
	if err != nil {
		b.Fatal(err)
	}
	payloads := make([]byte, speedWindow*speedSize)
	for slot := range uint32(speedWindow) {
		w.free <- slot
	}
	batch := make([]driver.Message, 0, 256)
	b.ResetTimer()
	for sent := 0; sent < b.N; sent += len(batch) {
		batch = batch[:0]
		for slot := <-w.free; ; slot = <-w.free {
			batch = append(batch, driver.Message{Slot: slot, Payload: payloads[int(slot)*speedSize:][:speedSize]})
			if len(batch) == min(cap(batch), b.N-sent) || len(w.free) == 0 {
				break
			}
		}
		_ = producer.Send(ctx, batch)
	}
	<-w.all
	b.StopTimer()
	_ = producer.Close()
	stop()
	if err := <-ended; err != nil {
		b.Error(err)
	}
	if n := w.failed.Load(); n > 0 {
		b.Fatalf("%d messages failed", n)
	}
}
