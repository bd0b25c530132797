package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/settle"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

var (
	errNacked   = errors.New("the broker rejected the message (basic.nack)")
	errReturned = errors.New("the broker returned the message: no queue for it")
)

// producer publishes on a connection of its own. Confirms come back through the client's deferred confirmations: a
// listener (NotifyPublish) would cost a timer and a hand-over between goroutines for every single message.
type producer struct {
	d        *rabbit
	cfg      driver.ProducerConfig
	receipts driver.Receipts
	routes   map[int]*route
	link     *link // nil or dead: to be dialled again
	again    bool  // it has been dialled before
	retryAt  time.Time
	mode     uint8

	published chan publication // in order of publishing; has room for every slot
	settled   chan struct{}    // closed when the last publication is settled
	slots     []uint32         // of one Send; reused
	given     uint64           // publications ever put into published
	outcomes  *settle.Outcomes // of those that are settled

	wire  atomic.Pointer[socket.Coalescer] // of link, for watch
	watch *socket.Watch                    // over Send, when the broker is frozen or has raised an alarm
}

// publication is one message on its way. The confirmation is done, and not acked, when the connection is lost.
type publication struct {
	confirmation *amqp.DeferredConfirmation
	on           *link
	slot         uint32
}

// route is how one topic's messages reach its queues.
type route struct {
	exchange string
	keys     []string // by partition
	turn     int      // of the next message without a key
}

func (d *rabbit) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	return resend.Producer(d.cfg.Guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) { return d.producer(ctx, c, r) })
}

func (d *rabbit) producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p := &producer{
		d: d, cfg: c, receipts: r, routes: map[int]*route{}, mode: d.mode(),
		published: make(chan publication, c.InFlight), settled: make(chan struct{}),
		slots: make([]uint32, 0, c.InFlight), outcomes: settle.NewOutcomes(r, c.InFlight),
	}
	p.watch = socket.NewWatch(func() { _ = p.wire.Load().Close() })
	for _, t := range c.Topics {
		p.routes[t] = d.route(t)
	}
	if err := p.connect(ctx); err != nil {
		return nil, err
	}
	go p.settle()
	return p, nil
}

// mode is the delivery_mode of every message.
func (d *rabbit) mode() uint8 {
	if d.durable {
		return amqp.Persistent
	}
	return amqp.Transient
}

func (d *rabbit) route(topic int) *route {
	_, exchange := d.exchange(topic)
	r := &route{exchange: exchange}
	for partition := range max(1, d.topo.Topics[topic].Partitions) {
		key := strconv.Itoa(partition)
		if exchange == "" {
			key = d.queue(topic, 0, partition)
		}
		r.keys = append(r.keys, key)
	}
	return r
}

// key picks the partition: by the message's key, or in turn.
func (r *route) key(key []byte) string {
	if len(r.keys) == 1 {
		return r.keys[0]
	}
	if len(key) > 0 {
		return r.keys[crc32.ChecksumIEEE(key)%uint32(len(r.keys))]
	}
	r.turn = (r.turn + 1) % len(r.keys)
	return r.keys[r.turn]
}

// Send publishes batch. On a lost connection it waits for the next attempt to reconnect, makes it, and fails the
// batch's slots if that is in vain; it returns an error only when ctx has ended.
func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	p.watch.Enter(ctx)
	defer p.watch.Leave()
	if err := p.reconnect(ctx); err != nil {
		driver.Fail(p.receipts, batch, err)
		return ctx.Err()
	}
	p.slots = p.slots[:0]
	p.link.wire.Hold()
	sent, err := p.publish(batch)
	if flushed := p.link.wire.Release(); flushed != nil && err == nil {
		err = fmt.Errorf("%w: %w", errLost, flushed)
	}
	if !p.d.confirm {
		p.receipts.Done(p.slots, err)
	}
	if sent < len(batch) {
		driver.Fail(p.receipts, batch[sent:], err)
	}
	return ctx.Err()
}

// publish hands messages to the client until one fails.
func (p *producer) publish(batch []driver.Message) (sent int, err error) {
	msg := amqp.Publishing{DeliveryMode: p.mode}
	mandatory := p.d.cfg.Client.Bool("mandatory")
	for i := range batch {
		m := &batch[i]
		r := p.routes[m.Topic]
		msg.Body = m.Payload
		if mandatory {
			msg.MessageId = strconv.FormatUint(uint64(m.Slot), 10)
		}
		confirmation, err := p.link.ch.PublishWithDeferredConfirm(r.exchange, r.key(m.Key), mandatory, false, msg)
		if err != nil {
			return i, fmt.Errorf("%w: publish: %w", p.link.loss(), err)
		}
		if p.d.confirm {
			p.given++
			p.published <- publication{confirmation, p.link, m.Slot}
		} else {
			p.slots = append(p.slots, m.Slot)
		}
	}
	return len(batch), nil
}

// Flush has nothing to do: Send leaves nothing behind.
func (p *producer) Flush(context.Context) error { return nil }

// Close gives outstanding confirms a moment, then closes the connection, which settles the rest.
func (p *producer) Close() error {
	p.watch.Stop()
	close(p.published)
	select {
	case <-p.settled:
	case <-time.After(closeTimeout):
	}
	p.link.close()
	<-p.settled
	return nil
}
