package natscore

import (
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

// intake is how messages come from the client to the sink.
type intake interface {
	subscribe(c *natsio.Conn, subject, group string) error
	run() // until end; nothing is delivered afterwards
	end() // may be called often, by anyone
}

// batches reads all subscriptions from one channel.
type batches struct {
	*natsio.Inbox
	sink driver.Sink
	came driver.Batch
}

func newBatches(pending int, s driver.Sink, headers []string) *batches {
	return &batches{Inbox: natsio.NewInbox(pending), sink: s, came: driver.NewBatch(headers, 256)}
}

func (b *batches) subscribe(c *natsio.Conn, subject, group string) error {
	_, err := c.ChanQueueSubscribe(subject, group, b.C)
	return err
}

func (b *batches) end() { b.End() }

func (b *batches) run() {
	b.Each(func(batch []*nats.Msg) {
		for _, m := range batch {
			b.came.Add(m.Data, func(name string) []byte { return natsio.Value(m.Header, name) })
		}
		b.came.Deliver(b.sink)
	})
}

// callbacks has the client call it for each message, as its documentation does: from a goroutine for each subscription.
type callbacks struct {
	pending int
	sink    driver.Sink
	ended   chan struct{}
	once    sync.Once

	mu   sync.Mutex
	left bool
	one  driver.Batch
}

func newCallbacks(pending int, s driver.Sink, headers []string) *callbacks {
	return &callbacks{pending: pending, sink: s, one: driver.NewBatch(headers, 1), ended: make(chan struct{})}
}

func (k *callbacks) subscribe(c *natsio.Conn, subject, group string) error {
	sub, err := c.QueueSubscribe(subject, group, k.handle)
	if err == nil {
		err = sub.SetPendingLimits(k.pending, nats.DefaultSubPendingBytesLimit)
	}
	return err
}

func (k *callbacks) handle(m *nats.Msg) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.left {
		k.one.Add(m.Data, func(name string) []byte { return natsio.Value(m.Header, name) })
		k.one.Deliver(k.sink)
	}
}

func (k *callbacks) end() { k.once.Do(func() { close(k.ended) }) }

func (k *callbacks) run() {
	<-k.ended
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left = true
}
