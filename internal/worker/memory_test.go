package worker

import (
	"context"
	"sync"

	"github.com/brokermark/brokermark/internal/driver"
)

// memory is the least a driver can be: Send delivers to every subscription and completes the slots before it
// returns. It shows what the harness itself costs.
type memory struct {
	mu    sync.Mutex
	sinks map[[2]int]driver.Sink // by topic and subscription
	subs  int
}

func (m *memory) Setup(_ context.Context, t driver.Topology) error {
	m.sinks, m.subs = map[[2]int]driver.Sink{}, len(t.Subscriptions)
	return nil
}

func (m *memory) Close() error { return nil }

func (m *memory) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	m.mu.Lock()
	m.sinks[[2]int{c.Topic, c.Subscription}] = s
	m.mu.Unlock()
	ready()
	<-ctx.Done()
	return nil
}

func (m *memory) Producer(_ context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p := &memoryProducer{receipts: r, slots: make([]uint32, 0, c.InFlight), batch: make([]driver.Received, 0, c.InFlight)}
	for s := range m.subs {
		p.sinks = append(p.sinks, m.sinks[[2]int{c.Topics[0], s}])
	}
	return p, nil
}

type memoryProducer struct {
	receipts driver.Receipts
	sinks    []driver.Sink
	slots    []uint32
	batch    []driver.Received
}

func (p *memoryProducer) Send(_ context.Context, batch []driver.Message) error {
	p.slots, p.batch = p.slots[:0], p.batch[:0]
	for i := range batch {
		m := &batch[i]
		p.slots = append(p.slots, m.Slot)
		p.batch = append(p.batch, driver.Received{Payload: m.Payload, Headers: m.Headers})
	}
	for _, s := range p.sinks {
		s.Deliver(p.batch)
	}
	p.receipts.Done(p.slots, nil)
	return nil
}

func (p *memoryProducer) Flush(context.Context) error { return nil }
func (p *memoryProducer) Close() error                { return nil }
