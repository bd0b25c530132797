// Package sim is a calibrated broker inside the process: its capacity, latency, stalls, losses, duplicates, reorders and
// corruptions are set exactly, to prove the instrument that measures them. It knows nothing of that instrument.
package sim

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
	"github.com/brokermark/brokermark/internal/usual"
)

func init() {
	catalog.Add(catalog.Product{Name: "sim", Driver: Kind(), Defaults: usual.Defaults{Persistence: usual.Memory}})
}

// Kind describes the driver: name "sim". Any non-empty string is an address; all drivers in the process that open the
// same one share its broker.
func Kind() driver.Kind {
	return driver.Kind{Settings: declared(), Supports: supports, Fits: fits, Maps: natives, Share: driver.TakeTurnsAtPartitions, Keeps: keeps, Redelivers: redelivers, Headers: driver.Always, Shared: true, Open: open}
}

// keeps implements driver.Kind.Keeps.
func keeps(client, _ driver.Values, _ int64) driver.Limit {
	n := client.Int("queue.limit")
	if n == 0 || client.String("queue.full") != fullDrops {
		return driver.Limit{}
	}
	return driver.Limit{Setting: fmt.Sprintf("client.queue.limit: %d", n), Messages: n}
}

// redelivers implements driver.Kind.Redelivers.
func redelivers(_ driver.Guarantee, client driver.Values, _ map[string]any) (time.Duration, string) {
	return client.Duration("duplicate.after"), ""
}

// fits implements driver.Kind.Fits.
func fits(c driver.Config, shape driver.Shape) error {
	s, err := newSettings(c.Client)
	if err != nil {
		return err
	}
	return s.roomFor(shape.MaxBytes)
}

// roomFor refuses messages that the memory doesn't hold two of.
func (s settings) roomFor(size int) error {
	if int64(size) > s.memory/2 {
		return driver.Unsupported("client.memory", "%d bytes are too few for messages of %d", s.memory, size)
	}
	return nil
}

type simDriver struct {
	broker    *broker
	guarantee driver.Guarantee
	topology  driver.Topology
	topics    []*topic // of topology, from the first producer on; guarded by the broker's lock
	close     sync.Once
}

func open(_ context.Context, c driver.Config) (driver.Driver, error) {
	if len(c.Target.Addresses) == 0 || c.Target.Addresses[0] == "" {
		return nil, fmt.Errorf("sim: no address; any name will do")
	}
	if err := supports(c.Guarantee); err != nil {
		return nil, err
	}
	if c.Target.TLS != nil {
		return nil, driver.Unsupported("tls", "sim has no network")
	}
	s, err := newSettings(c.Client)
	if err != nil {
		return nil, err
	}
	b, err := join(c.Target.Addresses[0], s)
	if err != nil {
		return nil, err
	}
	return &simDriver{broker: b, guarantee: c.Guarantee}, nil
}

// Setup implements driver.Driver.
func (d *simDriver) Setup(_ context.Context, t driver.Topology) error {
	d.topology, d.topics = t, nil
	if t.Existing {
		return d.broker.has(t)
	}
	return d.broker.create(t, d.guarantee.Ordering)
}

// Producer implements driver.Driver.
func (d *simDriver) Producer(_ context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	return resend.Producer(d.guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) { return d.producer(c, r) })
}

func (d *simDriver) producer(c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	b := d.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isKilled() {
		return nil, errKilled
	}
	if err := b.settings.roomFor(c.MaxBytes); err != nil {
		return nil, err
	}
	for _, i := range c.Topics {
		if i >= len(d.topology.Topics) {
			return nil, fmt.Errorf("sim: topic %d is not in the topology of %d topics", i, len(d.topology.Topics))
		}
	}
	p := &producer{
		broker: b, names: c.Headers, receipts: r, atMostOnce: d.guarantee.Delivery == driver.AtMostOnce,
		handed: make([]uint32, 0, max(c.InFlight, handful)), scratch: make([]uint32, 0, handful),
		held: map[int]parcel{}, room: make(chan struct{}, 1),
	}
	if d.topics == nil {
		for _, t := range d.topology.Topics {
			d.topics = append(d.topics, b.topics[t.Name])
		}
	}
	p.topics = d.topics
	b.producers = append(b.producers, p)
	return p, nil
}

// Consume implements driver.Driver.
func (d *simDriver) Consume(ctx context.Context, cfg driver.ConsumerConfig, s driver.Sink, ready func()) error {
	if slices.Max(cfg.Topics()) >= len(d.topology.Topics) || cfg.Subscription >= len(d.topology.Subscriptions) {
		return fmt.Errorf("sim: topics %v, subscription %d: not in the topology", cfg.Topics(), cfg.Subscription)
	}
	b := d.broker
	c := &consumer{sink: s, batch: driver.NewBatch(cfg.Headers, handful)}
	b.mu.Lock()
	var queues []*queue
	for _, topic := range cfg.Topics() {
		queues = append(queues, b.topics[d.topology.Topics[topic].Name].subscription(d.topology.Subscriptions[cfg.Subscription]).queues...)
	}
	for _, q := range queues {
		q.consumers = append(slices.Clip(q.consumers), c)
	}
	wake := b.server.wakeFor(0)
	b.mu.Unlock()
	if wake {
		b.server.wake() // there may be a backlog
	}
	defer c.leave(b, queues)
	ready()
	select {
	case <-ctx.Done():
		return nil
	case <-b.killed:
		return errKilled
	}
}

// leave returns once the server will never again deliver to the consumer.
func (c *consumer) leave(b *broker, queues []*queue) {
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range queues {
		q.consumers = slices.DeleteFunc(slices.Clone(q.consumers), func(o *consumer) bool { return o == c })
	}
}

// Clean implements driver.Cleaner.
func (d *simDriver) Clean(context.Context) error {
	d.broker.remove(d.topology)
	return nil
}

// Close implements driver.Driver.
func (d *simDriver) Close() error {
	d.close.Do(d.broker.leave)
	return nil
}
