package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/amqp"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// errInterrupted ends a session that had been registered with the broker.
var errInterrupted = errors.New("connection lost, or the stream became unavailable")

// Consume reads a stream, or a share of a super stream, as one of the single active consumers of its subscription. It
// reconnects until ctx ends.
func (d *streams) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	registered := sync.OnceFunc(ready)
	own := map[string]*place{}
	for again := false; ; again = true {
		err := d.session(ctx, c, s, own, registered)
		if ctx.Err() != nil {
			return nil
		}
		var refused *driver.ErrUnsupported
		if (!again || errors.As(err, &refused)) && !errors.Is(err, errInterrupted) {
			return fmt.Errorf("consume from %s: %w", d.topo.Topics[c.Topic].Name, err)
		}
		if socket.Pause(ctx, retryPause) != nil {
			return nil
		}
	}
}

// session consumes on one connection until that or ctx ends.
func (d *streams) session(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, own map[string]*place, registered func()) error {
	l, err := d.dial(ctx, c.ID)
	if err != nil {
		return err
	}
	if err := versionAllows(l.version, driver.Shape{Consumers: c.ID + 1}); err != nil {
		l.close()
		return err
	}
	in := d.intake(l, c, s, own)
	opening, cancel := context.WithTimeout(ctx, leaderWait)
	defer cancel()
	_, err = within(opening, func() (struct{}, error) { return struct{}{}, available(opening, in.subscribe) }, nil)
	if err == nil {
		registered()
		in.keep(ctx)
		err = errInterrupted
	}
	in.stop()
	closing, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_, _ = within(closing, func() (struct{}, error) { // asks the server, and writes to a socket that may be full
		in.store(0)
		return struct{}{}, l.Close()
	}, nil)
	return err
}

// intake is one session of a consumer: an inlet for every stream of its topic.
type intake struct {
	d            *streams
	link         *link
	sink         driver.Sink
	topic        driver.Topic
	subscription string
	inlets       map[string]*inlet
	lost         chan struct{}
	cut          func() // closes lost

	mu      sync.Mutex // one Deliver at a time
	stopped bool
}

func (d *streams) intake(l *link, c driver.ConsumerConfig, s driver.Sink, own map[string]*place) *intake {
	in := &intake{
		d: d, link: l, sink: s, topic: d.topo.Topics[c.Topic], subscription: d.topo.Subscriptions[c.Subscription],
		inlets: map[string]*inlet{}, lost: make(chan struct{}),
	}
	in.cut = sync.OnceFunc(func() { close(in.lost) })
	for _, name := range streamsOf(in.topic) {
		in.inlets[name] = &inlet{in: in, place: d.placeOf(in.subscription, name, own), came: driver.NewBatch(c.Headers, deliverBatch)}
	}
	return in
}

func (in *intake) subscribe() error {
	sac := &stream.SingleActiveConsumer{Enabled: true, ConsumerUpdate: in.activated}
	if in.topic.Partitions > 1 {
		return in.subscribeAll(sac)
	}
	name := in.topic.Name
	client := in.d.cfg.Client
	o := stream.NewConsumerOptions().SetConsumerName(in.subscription).SetClientProvidedName("brokermark").
		SetInitialCredits(int16(client.Int("initial.credits"))).SetCRCCheck(client.Bool("crc.check")).SetManualCommit()
	if reach.AtLeast(in.link.version, 3, 11) {
		o.SetSingleActiveConsumer(sac).SetOffset(stream.OffsetSpecification{}.First()) // which the server ignores: it asks activated
	} else {
		from, err := in.from(name)
		if err != nil {
			return err
		}
		o.SetOffset(from)
	}
	consumer, err := in.link.NewConsumer(name, in.inlets[name].take, o)
	if err != nil {
		return err
	}
	ended := consumer.NotifyClose()
	go func() { <-ended; in.cut() }()
	// A connection that was lost before we listened for its end is noticed by asking on it.
	if _, err := consumer.QueryOffset(); err != nil && !errors.Is(err, stream.OffsetNotFoundError) {
		return err
	}
	return nil
}

// subscribeAll takes part in the consumption of a super stream.
func (in *intake) subscribeAll(sac *stream.SingleActiveConsumer) error {
	o := stream.NewSuperStreamConsumerOptions().SetConsumerName(in.subscription).SetClientProvidedName("brokermark").
		SetSingleActiveConsumer(sac).SetManualCommit().SetOffset(stream.OffsetSpecification{}.First())
	consumer, err := in.link.NewSuperStreamConsumer(in.topic.Name, func(c stream.ConsumerContext, m *amqp.Message) {
		in.inlets[c.Consumer.GetStreamName()].take(c, m)
	}, o)
	if err != nil {
		return err
	}
	ended := consumer.NotifyPartitionClose(in.topic.Partitions)
	go func() { <-ended; in.cut() }()
	return nil
}

// activated answers the server's question where to begin. If another consumer takes over instead, it stores the delivered
// offset first, so that the other one begins behind it.
func (in *intake) activated(name string, active bool) stream.OffsetSpecification {
	if !active {
		in.inlets[name].store(0)
		return stream.OffsetSpecification{}.Next()
	}
	from, err := in.from(name)
	if err != nil {
		clientLog.Error("stored offset of %s on %s: %v", in.subscription, name, err)
		in.cut()
	}
	return from
}

// from returns where to begin: after the last delivered message that this process or the server knows of.
func (in *intake) from(name string) (stream.OffsetSpecification, error) {
	next := in.inlets[name].place.reached()
	if in.d.cfg.Guarantee.Delivery != driver.AtMostOnce {
		stored, err := in.link.QueryOffset(in.subscription, name)
		if err != nil && !errors.Is(err, stream.OffsetNotFoundError) {
			return stream.OffsetSpecification{}.Offset(next), err
		}
		if err == nil {
			next = max(next, stored+1)
		}
	}
	if next == 0 {
		return stream.OffsetSpecification{}.First(), nil
	}
	return stream.OffsetSpecification{}.Offset(next), nil
}

// keep stores offsets at intervals, until the connection is lost or ctx ends.
func (in *intake) keep(ctx context.Context) {
	delay := in.d.cfg.Client.Duration("offset.store.delay")
	storing, end := context.WithCancel(ctx)
	defer end()
	go func() { // a goroutine of its own: a write to a frozen broker may not keep Consume from returning
		due := time.NewTicker(max(delay/2, time.Millisecond))
		defer due.Stop()
		for {
			select {
			case <-due.C:
				in.store(delay)
			case <-storing.Done():
				return
			}
		}
	}()
	select {
	case <-ctx.Done():
	case <-in.lost:
	}
}

func (in *intake) store(delay time.Duration) {
	for _, i := range in.inlets {
		i.store(delay)
	}
}

// stop returns when no Deliver is running, and none will.
func (in *intake) stop() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stopped = true
}
