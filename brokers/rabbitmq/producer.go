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
	errFull     = fmt.Errorf("%w: its queue is full (x-overflow: reject-publish)", errNacked)
	errReturned = errors.New("the broker returned the message: no queue for it")
)

// producer publishes on a connection of its own. Confirms come through the client's deferred confirmations: a listener
// (NotifyPublish) would cost a timer and a hand-over between goroutines for every message.
type producer struct {
	d         *rabbit
	cfg       driver.ProducerConfig
	receipts  driver.Receipts
	routes    map[int]*route
	link      *link // nil or dead: to be dialled again
	again     bool  // it has been dialled before
	retryAt   time.Time
	msg       amqp.Publishing // all messages share everything but body and headers; the client writes it before it returns
	texts     driver.Texts    // values of its headers
	mandatory bool
	nacked    error // the outcome of messages that the broker nacks
	alone     bool  // one of the messages to be sent again had a channel closed: each is published and confirmed by itself

	published chan publication // in the order of publishing; has room for every slot
	settled   chan struct{}    // closed when the last publication is settled
	slots     []uint32         // of one Send; reused
	given     uint64           // publications ever put into published
	outcomes  *settle.Outcomes // of those that are settled

	wire  atomic.Pointer[socket.Coalescer] // of link, for watch
	watch *socket.Watch                    // called after Send, when the broker is frozen or has raised an alarm
}

// publication is one message under way. Its confirmation is done, and not acked, when the connection is lost.
type publication struct {
	confirmation *amqp.DeferredConfirmation
	on           *link
	slot         uint32
	alone        bool // nothing else was under way
}

// route describes how one topic's messages reach its queues.
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
		d: d, cfg: c, receipts: r, routes: map[int]*route{}, msg: amqp.Publishing{DeliveryMode: d.mode()}, nacked: d.nacked(), mandatory: d.cfg.Client.Bool("mandatory"),
		published: make(chan publication, c.InFlight), settled: make(chan struct{}),
		slots: make([]uint32, 0, c.InFlight), outcomes: settle.NewOutcomes(r, c.InFlight),
	}
	if len(c.Headers) > 0 {
		p.msg.Headers = amqp.Table{}
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

// Send publishes batch. On a lost connection it waits for the next attempt to reconnect, makes it, and fails the batch's slots if
// the attempt fails. It returns an error only when ctx has ended.
func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	p.watch.Enter(ctx)
	defer p.watch.Leave()
	if err := p.reconnect(ctx); err != nil {
		driver.Fail(p.receipts, batch, err)
		return ctx.Err()
	}
	p.slots = p.slots[:0]
	if len(batch) > 0 && !batch[0].Resent {
		p.alone = false // everything to be sent again has been sent
	}
	var sent int
	var err error
	if p.alone {
		sent, err = p.oneByOne(ctx, batch)
	} else {
		sent, err = p.publish(batch)
	}
	if !p.d.confirm {
		p.receipts.Done(p.slots, err)
	}
	if sent < len(batch) {
		driver.Fail(p.receipts, batch[sent:], err)
	}
	return ctx.Err()
}

// publish passes messages to the client until one fails.
func (p *producer) publish(batch []driver.Message) (sent int, err error) {
	p.link.wire.Hold()
	for sent < len(batch) && err == nil {
		if _, err = p.publishOne(&batch[sent], false); err == nil {
			sent++
		}
	}
	if flushed := p.link.wire.Release(); flushed != nil && err == nil {
		err = fmt.Errorf("%w: %w", errLost, flushed)
	}
	return sent, err
}

// oneByOne publishes messages that are sent again, each when the one before it is confirmed: if the broker closes the channel
// because of a message, it is then known which.
func (p *producer) oneByOne(ctx context.Context, batch []driver.Message) (sent int, err error) {
	for i := range batch {
		confirmation, err := p.publishOne(&batch[i], true)
		if err != nil {
			return i, err
		}
		select {
		case <-confirmation.Done():
		case <-ctx.Done():
		}
		if ctx.Err() != nil || p.link.dead() {
			return i + 1, errLost
		}
	}
	return len(batch), nil
}

// publishOne fails if the channel was closed, which was not this message's fault.
func (p *producer) publishOne(m *driver.Message, alone bool) (*amqp.DeferredConfirmation, error) {
	r := p.routes[m.Topic]
	p.msg.Body = m.Payload
	p.texts.Set(m.Headers.Values(), func(i int, text string) { p.msg.Headers[p.cfg.Headers[i]] = text })
	if p.mandatory {
		p.msg.MessageId = strconv.FormatUint(uint64(m.Slot), 10)
	}
	confirmation, err := p.link.ch.PublishWithDeferredConfirm(r.exchange, r.key(m.Key), p.mandatory, false, p.msg)
	if err != nil {
		return nil, fmt.Errorf("%w: publish: %w", errLost, err)
	}
	if p.d.confirm {
		p.given++
		p.published <- publication{confirmation, p.link, m.Slot, alone}
	} else {
		p.slots = append(p.slots, m.Slot)
	}
	return confirmation, nil
}

// Flush does nothing: Send leaves nothing in a buffer.
func (p *producer) Flush(context.Context) error { return nil }

// Close waits a moment for outstanding confirms, then closes the connection, which settles the rest.
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
