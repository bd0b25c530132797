package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// slow takes a while for every client, and counts how many it connects at once.
type slow struct {
	script
	busy, most atomic.Int64
}

const handshake = 20 * time.Millisecond

func (d *slow) connect() {
	n := d.busy.Add(1)
	for most := d.most.Load(); n > most && !d.most.CompareAndSwap(most, n); most = d.most.Load() {
	}
	time.Sleep(handshake)
	d.busy.Add(-1)
}

func (d *slow) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	d.connect()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.script.Producer(ctx, c, r)
}

func (d *slow) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	d.connect()
	return d.script.Consume(ctx, c, s, ready)
}

// wide is a plan of so many topics, each with one producer and one consumer.
func wide(topics int) Plan {
	p := simple(0, 1)
	p.Topology.Topics, p.Consumers = nil, nil
	p.InFlight, p.Connect = 10, time.Minute
	for i := range topics {
		p.Topology.Topics = append(p.Topology.Topics, driver.Topic{Name: "t", Partitions: 1})
		p.Producers = append(p.Producers, Producer{ID: i, Topic: i})
		p.Consumers = append(p.Consumers, driver.ConsumerConfig{Topic: i})
	}
	return p
}

func TestManyClientsAreConnectedAtOnceButNotAll(t *testing.T) {
	const topics = 500
	d := &slow{}
	began := time.Now()
	ready(t, d, wide(topics))
	if took, serial := time.Since(began), 2*topics*handshake; took > serial/8 {
		t.Errorf("%d producers and %d consumers were connected in %s; one after the other they would take %s", topics, topics, took, serial)
	}
	if most := d.most.Load(); most > maxConnecting || most < maxConnecting/2 {
		t.Errorf("%d clients were connecting at once, want %d", most, maxConnecting)
	}
}
