package amqp10

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// deliverBatch is the most messages handed to the sink at once.
const deliverBatch = 256

var errInterrupted = errors.New("connection lost, or the broker closed the link")

// Consume competes with the other consumers of its subscription. It reconnects until ctx ends; the broker then redelivers
// what was not accepted.
func (d *session) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	registered := sync.OnceFunc(ready)
	for again := false; ; again = true {
		err := d.consume(ctx, c, s, registered, again)
		if ctx.Err() != nil {
			return nil
		}
		if !again && !errors.Is(err, errInterrupted) {
			return fmt.Errorf("consume from %s: %w", d.topology.Topics[c.Topic].Name, err)
		}
		d.logf("consumer %d: %v", c.ID, err)
		_ = socket.Pause(ctx, retryPause)
	}
}

// consume takes messages on one connection until that or ctx ends.
func (d *session) consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, registered func(), again bool) error {
	l, err := Dial(ctx, d.product, &d.config, c.ID)
	if err != nil {
		return err
	}
	defer l.Close()
	attaching, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if again {
		if err := d.dialect.Declare(attaching, l, d.topology, c.Topic); err != nil {
			return err
		}
	}
	node := d.dialect.Source(d.topology, c.Topic, c.Subscription)
	mode := amqp.SenderSettleModeSettled
	if d.accepts {
		mode = amqp.SenderSettleModeUnsettled
	}
	r, err := l.Session.NewReceiver(attaching, node.Address, &amqp.ReceiverOptions{
		Credit: int32(d.config.Client.Int("Credit")), RequestedSenderSettleMode: &mode, SourceCapabilities: node.Capabilities,
	})
	if err != nil {
		return fmt.Errorf("receive from %s: %w", node.Address, err)
	}
	registered()
	// An accept that the broker doesn't read blocks in its write, whatever its context.
	unwatch := context.AfterFunc(ctx, func() { time.AfterFunc(closeTimeout, l.Cut) })
	defer unwatch()
	return fmt.Errorf("%w: %w", errInterrupted, d.take(ctx, l, r, s, c))
}

// take delivers and then accepts, batch by batch, until the link or ctx ends.
func (d *session) take(ctx context.Context, l *Link, r *amqp.Receiver, s driver.Sink, c driver.ConsumerConfig) error {
	messages := make([]*amqp.Message, 0, deliverBatch)
	came := driver.NewBatch(c.Headers, deliverBatch)
	for {
		m, err := r.Receive(ctx, nil)
		if err != nil {
			return err
		}
		messages = append(messages[:0], m)
		d.add(&came, m, c)
		for len(messages) < deliverBatch {
			m := r.Prefetched()
			if m == nil {
				break
			}
			messages = append(messages, m)
			d.add(&came, m, c)
		}
		came.Deliver(s)
		if !d.accepts {
			continue
		}
		l.wire.Hold()
		for _, m := range messages {
			if err := r.AcceptMessage(context.Background(), m); err != nil {
				_ = l.wire.Release()
				return err
			}
		}
		if err := l.wire.Release(); err != nil {
			return err
		}
	}
}

// add adds m to a batch, unless it may have been delivered before and that must not happen twice.
func (d *session) add(came *driver.Batch, m *amqp.Message, c driver.ConsumerConfig) {
	if d.identity != "" {
		if id, _ := m.ApplicationProperties[d.identity].(string); !d.seen.First(c.Topic, c.Subscription, id) {
			return
		}
	}
	if d.once && d.product.repeated(m.Header) {
		return
	}
	came.Add(m.GetData(), func(name string) []byte { return driver.Text(m.ApplicationProperties, name) })
}

// repeated reports whether a consumer may have had the message before. Without a header the protocol's defaults hold: a
// delivery-count of 0, and not the first acquirer, which says nothing where a broker never sets it.
func (p *Product) repeated(h *amqp.MessageHeader) bool {
	if h == nil {
		return p.FirstAcquirer
	}
	return h.DeliveryCount > 0 || p.FirstAcquirer && !h.FirstAcquirer
}
