package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

func pubsubKind() driver.Kind {
	return driver.Kind{
		Without: map[driver.Class]string{driver.Acknowledging: "none", driver.Prefetching: "none: the server sends what is published", driver.Publishing: "the run's window", driver.Threading: "by the load"},
		Client:  library, Settings: channelSettings, Supports: pubsubSupports, Open: openPubsub,
		Transient: true, Maps: pubsubNatives, Share: alone, Fits: whole, Keyless: driver.Never("a channel has neither partitions nor keys"),
		Found: hears, Marks: marks,
	}
}

var channelSettings = slices.Concat([]driver.Setting{
	driver.ModeSetting("commands are made once and used again, and messages are read by Receive instead of from Channel"),
}, connectionSettings, sentinelSettings)

// alone implements driver.Kind.Share.
func alone(_ driver.Guarantee, _ driver.Values, consumers, _ int) error {
	if consumers < 2 {
		return nil
	}
	return driver.Unsupported(fmt.Sprintf("consumerPerSubscription: %d", consumers),
		"every subscriber of a channel gets every message, so a subscription has one; streams share (broker redis)")
}

func pubsubSupports(g driver.Guarantee) error {
	switch {
	case g.Delivery != driver.AtMostOnce:
		return driver.Unsupported("delivery: "+string(g.Delivery), "pub/sub keeps no copy of a message; streams do (broker redis)")
	case g.Persistence != driver.Memory:
		return driver.Unsupported("persistence: "+string(g.Persistence), "pub/sub writes nothing to a disk; streams do (broker redis)")
	case g.Replicas > 1:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "pub/sub keeps no copies; streams do (broker redis)")
	case g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "the reply of PUBLISH says how many subscribers there were, not that one has the message; use none")
	}
	return nil
}

// whole implements driver.Kind.Fits.
func whole(c driver.Config, s driver.Shape) error {
	if s.Partitions > 1 {
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "a channel has no partitions; use more topics")
	}
	return fitsSentinel(c)
}

// channels drives pub/sub: a topic is a channel, a subscription is one subscriber.
type channels struct{ *session }

func openPubsub(ctx context.Context, c driver.Config) (driver.Driver, error) {
	d, err := connected(ctx, c)
	if err != nil {
		return nil, err
	}
	return channels{d}, nil
}

// Setup creates nothing: a channel exists while it has subscribers.
func (d channels) Setup(_ context.Context, t driver.Topology) error {
	if err := whole(d.config, t.Shape()); err != nil {
		return err
	}
	for _, topic := range t.Topics {
		d.streams = append(d.streams, []string{topic.Name})
	}
	return nil
}

// Clean removes nothing.
func (channels) Clean(context.Context) error { return nil }

func (d channels) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p, err := d.newProducer(ctx, c, r, func(p *producer, slot uint32) []any { return []any{"publish", "", &p.bodies[slot]} })
	if err != nil {
		return nil, err
	}
	for slot, args := range p.args { // its reply is a number
		p.command[slot] = redis.NewIntCmd(context.Background(), args...)
	}
	if driver.UsesStock(d.config.Client) {
		p.pipes[0].fresh = func(ctx context.Context, pipeline redis.Pipeliner, slot uint32) redis.Cmder {
			return pipeline.Publish(ctx, p.name(slot), p.payload(slot))
		}
	}
	p.start()
	return p, nil
}

// Consume is the subscriber of a subscription. The client subscribes again after a lost connection; messages published meanwhile are lost.
// A message waits as long as Channel is full: after the client's default of a minute it would be dropped with nothing but a log line.
func (d channels) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	if err := alone(d.config.Guarantee, d.config.Topic, c.ID+1, 1); err != nil {
		return err
	}
	client := d.dial(d.address, nil)
	defer client.Close()
	name := d.streams[c.Topic][0]
	sub := client.Subscribe(ctx, name)
	defer sub.Close()
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	if _, err := sub.ReceiveTimeout(ctx, openBudget); err != nil && ctx.Err() == nil {
		return fmt.Errorf("subscribe to %s: %w", name, refusal(d.address, d.config.Target, err))
	}
	ready()
	var payload []byte
	one := driver.NewBatch(nil, 1)
	if driver.UsesStock(d.config.Client) {
		for m := range sub.Channel(redis.WithChannelSendTimeout(math.MaxInt64)) { // until sub is closed
			one.Add([]byte(m.Payload), nil)
			one.Deliver(s)
		}
		return nil
	}
	for ctx.Err() == nil {
		m, err := sub.Receive(ctx)
		if errors.Is(err, redis.ErrClosed) {
			continue
		}
		if err != nil {
			d.logf("subscriber of %s: %v; subscribing again", name, err)
			_ = socket.Pause(ctx, retryPause)
			continue
		}
		if m, ok := m.(*redis.Message); ok {
			payload = append(payload[:0], m.Payload...)
			one.Add(payload, nil)
			one.Deliver(s)
		}
	}
	return nil
}
