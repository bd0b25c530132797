package amqp10

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/settle"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

// producer sends on a connection of its own, over one AMQP link per topic.
type producer struct {
	d        *session
	cfg      driver.ProducerConfig
	receipts driver.Receipts
	link     *Link // nil or dead: to be dialled again
	again    bool  // it has been dialled before
	senders  map[int]*amqp.Sender
	retryAt  time.Time
	message  amqp.Message // the client copies it before it returns
	texts    driver.Texts // of its headers
	groupID  *string      // nil: messages belong to no group
	ids      *identities  // nil: messages have no identities

	sent     chan delivery    // in order of sending; has room for every slot
	settled  chan struct{}    // closed when the last delivery is settled
	given    uint64           // deliveries ever put into sent
	outcomes *settle.Outcomes // of those that are settled
	arrived  *arrivals        // of link
	slots    []uint32         // of one Send; reused

	wire  atomic.Pointer[Link] // link, for watch
	watch *socket.Watch        // over Send, when the broker is frozen
}

func (d *session) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	return resend.Producer(d.config.Guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) { return d.producer(ctx, c, r) })
}

func (d *session) producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p := &producer{
		d: d, cfg: c, receipts: r,
		sent: make(chan delivery, c.InFlight), settled: make(chan struct{}),
		slots: make([]uint32, 0, c.InFlight), outcomes: settle.NewOutcomes(r, c.InFlight),
	}
	p.watch = socket.NewWatch(func() { p.wire.Load().Cut() })
	p.message.Data = make([][]byte, 1)
	p.message.Header = &amqp.MessageHeader{Durable: d.durable, Priority: 4}
	switch d.group {
	case groupProducer:
		id := fmt.Sprintf("producer-%d", c.ID)
		p.groupID = &id
	case groupKey:
		p.groupID = new(string)
	}
	if p.groupID != nil {
		p.message.Properties = &amqp.MessageProperties{GroupID: p.groupID}
	}
	if d.identity != "" {
		p.ids = newIdentities(c.InFlight)
	}
	if p.ids != nil || len(c.Headers) > 0 {
		p.message.ApplicationProperties = map[string]any{}
	}
	if err := p.connect(ctx); err != nil {
		return nil, err
	}
	go p.settle()
	return p, nil
}

// Send sends batch. On a lost connection it waits for the next attempt to reconnect, makes it, and fails the batch's slots
// if that fails; it returns an error only when ctx has ended.
func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	p.watch.Enter(ctx)
	defer p.watch.Leave()
	if p.ids != nil {
		p.ids.enter(batch)
	}
	if err := p.reconnect(ctx); err != nil {
		driver.Fail(p.receipts, batch, err)
		return ctx.Err()
	}
	p.slots = p.slots[:0]
	p.link.wire.Hold()
	sent, err := p.transfer(ctx, batch)
	if flushed := p.link.wire.Release(); flushed != nil && err == nil {
		err = fmt.Errorf("%w: %w", errLost, flushed)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if len(p.slots) > 0 {
		p.receipts.Done(p.slots, err)
	}
	if sent < len(batch) {
		driver.Fail(p.receipts, batch[sent:], err)
		if ctx.Err() == nil { // a link that the broker has closed isn't opened again
			p.link.Cut()
		}
	}
	return ctx.Err()
}

// transfer hands messages to the client until one fails. The client waits here for the broker's credit.
func (p *producer) transfer(ctx context.Context, batch []driver.Message) (sent int, err error) {
	for i := range batch {
		m := &batch[i]
		sender := p.senders[m.Topic]
		p.message.Data[0] = m.Payload
		if p.ids != nil {
			p.message.ApplicationProperties[p.d.identity] = p.ids.of(m.Slot)
		}
		p.texts.Set(m.Headers.Values(), func(i int, text string) { p.message.ApplicationProperties[p.cfg.Headers[i]] = text })
		if p.d.group == groupKey {
			*p.groupID = string(m.Key)
		}
		if !p.d.unsettled {
			if err := sender.Send(ctx, &p.message, nil); err != nil {
				return i, fmt.Errorf("send: %w", loss(err))
			}
			p.slots = append(p.slots, m.Slot)
			continue
		}
		receipt, err := sender.SendWithReceipt(ctx, &p.message, nil)
		if err != nil {
			return i, fmt.Errorf("send: %w", loss(err))
		}
		p.given++
		p.sent <- delivery{receipt, p.arrived, m.Slot}
	}
	return len(batch), nil
}

// Flush has nothing to do: Send leaves nothing behind.
func (p *producer) Flush(context.Context) error { return nil }

// Close gives outstanding messages a moment to be settled, then closes the connection, which settles the rest.
func (p *producer) Close() error {
	p.watch.Stop()
	close(p.sent)
	select {
	case <-p.settled:
	case <-time.After(closeTimeout):
		p.link.Cut()
	}
	p.link.Close()
	<-p.settled
	return nil
}
