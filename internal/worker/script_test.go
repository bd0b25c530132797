package worker

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// script is a driver that does what a test says, where the misbehaviour to be judged is the client library's and no
// real broker could be made to show it on time.
type script struct {
	memory
	// send is called for every Send, by the producer's goroutine; nil delivers and completes everything.
	send func(p *scriptProducer, ctx context.Context, batch []driver.Message) error
	// consume is called once the consumer is registered; nil waits for the end.
	consume func(ctx context.Context, c driver.ConsumerConfig) error

	delivering sync.Mutex // Deliver is never called concurrently for one consumer
	pending    sync.WaitGroup
}

func (d *script) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	if d.consume == nil {
		return d.memory.Consume(ctx, c, s, ready)
	}
	d.mu.Lock()
	d.sinks[[2]int{c.Topic, c.Subscription}] = s
	d.mu.Unlock()
	ready()
	return d.consume(ctx, c)
}

func (d *script) Producer(_ context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p := &scriptProducer{script: d, config: c, receipts: r}
	for s := range d.subs {
		p.sinks = append(p.sinks, d.sinks[[2]int{c.Topics[0], s}])
	}
	return p, nil
}

type scriptProducer struct {
	script   *script
	config   driver.ProducerConfig
	receipts driver.Receipts
	sinks    []driver.Sink
	sent     int // messages before this Send
}

func (p *scriptProducer) Send(ctx context.Context, batch []driver.Message) error {
	defer func() { p.sent += len(batch) }()
	if p.script.send == nil {
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}
	return p.script.send(p, ctx, batch)
}

func (p *scriptProducer) deliver(batch []driver.Message) {
	p.script.delivering.Lock()
	defer p.script.delivering.Unlock()
	for _, s := range p.sinks {
		s.Deliver(payloads(batch))
	}
}

func (p *scriptProducer) done(batch []driver.Message, err error) {
	if len(batch) == 0 {
		return
	}
	slots := make([]uint32, len(batch))
	for i, m := range batch {
		slots[i] = m.Slot
	}
	p.receipts.Done(slots, err)
}

// later runs do with a copy of the batch, in a goroutine that Close waits for.
func (p *scriptProducer) later(batch []driver.Message, do func(batch []driver.Message)) {
	kept := append([]driver.Message(nil), batch...)
	p.script.pending.Go(func() { do(kept) })
}

func (p *scriptProducer) Flush(context.Context) error { return nil }
func (p *scriptProducer) Close() error                { p.script.pending.Wait(); return nil }

func payloads(batch []driver.Message) []driver.Received {
	out := make([]driver.Received, len(batch))
	for i, m := range batch {
		out[i] = driver.Received{Payload: m.Payload, Headers: m.Headers}
	}
	return out
}

// simple is a plan of n producers on one topic, with one consumer for each subscription.
func simple(producers, subscriptions int) Plan {
	p := Plan{
		Topology: driver.Topology{Topics: []driver.Topic{{Name: "t", Partitions: 1}}},
		Payload:  Payload{Sizes: []Size{{100, 1}}, Random: 1, Pool: 4},
		InFlight: 1000, Bytes: 1 << 20, Connect: 10 * time.Second, Run: 77,
	}
	for i := range producers {
		p.Producers = append(p.Producers, Producer{ID: i})
	}
	for s := range subscriptions {
		p.Topology.Subscriptions = append(p.Topology.Subscriptions, string(rune('a'+s)))
		p.Consumers = append(p.Consumers, driver.ConsumerConfig{Subscription: s})
	}
	return p
}

// ready prepares a worker that is closed with the test.
func ready(t *testing.T, d driver.Driver, p Plan) *Worker {
	t.Helper()
	w, err := Prepare(t.Context(), d, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// probing tells a probe, which isn't part of any trial.
func probing(batch []driver.Message) bool {
	h := headerOf(batch[0])
	return h.ID.Seq()&probeBit != 0
}
