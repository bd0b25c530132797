package natsstreaming

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/stan.go"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// flushBudget is for the server to take the last acknowledgements.
const flushBudget = time.Second

var errInterrupted = errors.New("connection lost")

// Consume is a member of the subscription's durable queue group. A lost connection is made anew until ctx ends; the
// server then delivers again what was not acknowledged.
func (d *driving) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	if err := d.config.Guarantee.TakingTurns(c); err != nil {
		return err
	}
	registered := sync.OnceFunc(ready)
	// The same name on every connection: the server drops the member of before at once, instead of delivering to it
	// until it has missed its heartbeats.
	id := clientID("consumer")
	for again := false; ; again = true {
		err := d.consume(ctx, c, id, s, registered)
		if ctx.Err() != nil {
			return nil
		}
		if !again && !errors.Is(err, errInterrupted) {
			return fmt.Errorf("consume from %s: %w", d.subjects[c.Topic], err)
		}
		d.dialer.Logf("consumer %d of %s: %v; connecting again", c.ID, d.subjects[c.Topic], err)
		_ = socket.Pause(ctx, retryPause)
	}
}

func (d *driving) consume(ctx context.Context, c driver.ConsumerConfig, id string, s driver.Sink, registered func()) error {
	l, err := d.dial(id, 1)
	if err != nil {
		return err
	}
	defer l.close()
	r := &receiver{sink: s, once: d.config.Guarantee.Delivery == driver.AtMostOnce}
	group := d.subscriptions[c.Subscription]
	client := d.config.Client
	options := []stan.SubscriptionOption{
		stan.DurableName(group), stan.MaxInflight(int(client.Int("MaxInflight"))), stan.AckWait(client.Duration("AckWait")),
		// Setup has made the group; only a server that has lost its memory makes it now, and everything it has is new.
		stan.DeliverAllAvailable(),
	}
	if !r.once {
		options = append(options, stan.SetManualAckMode())
	}
	if _, err := l.QueueSubscribe(d.subjects[c.Topic], group, r.handle, options...); err != nil {
		return err
	}
	defer r.leave()
	registered()
	select {
	case <-l.lost:
		return errInterrupted
	case <-ctx.Done():
	}
	r.leave()
	if l.nats.FlushTimeout(flushBudget) != nil { // the goodbye would not be answered either
		l.cut()
	}
	return nil // closing the client ends the membership, not the group
}

// receiver hands messages on. handle is called by one goroutine of the client.
type receiver struct {
	sink driver.Sink
	once bool
	one  driver.Batch
	turn sync.Mutex // a message is delivered and acknowledged, or neither
	left bool
}

func (r *receiver) handle(m *stan.Msg) {
	r.turn.Lock()
	defer r.turn.Unlock()
	// At most once, what may have been delivered before is not delivered again.
	if r.left || r.once && m.Redelivered {
		return
	}
	r.one.Add(m.Data, nil)
	r.one.Deliver(r.sink)
	if !r.once {
		_ = m.Ack() // fails only where the connection does; then the message comes again
	}
}

// leave waits until what is being delivered is acknowledged, too. What comes then goes to the next consumer.
func (r *receiver) leave() {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.left = true
}
