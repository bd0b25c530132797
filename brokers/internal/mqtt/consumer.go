package mqtt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// deliverBatch is the most messages handed to the sink at once.
const deliverBatch = 256

var errInterrupted = errors.New("connection lost")

// Consume is one consumer of a subscription. It reconnects until ctx ends; the server then redelivers what was not
// acknowledged.
func (d *driving) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	if err := share(d.product, d.config.Guarantee, d.config.Topic, c.ID+1, 1); err != nil {
		return err
	}
	registered := sync.OnceFunc(ready)
	r := &receiver{
		qos: d.qos, sink: s, delivered: d.unreleased(d.clientID(c)),
		came: driver.NewBatch(c.Headers, deliverBatch), one: driver.NewBatch(c.Headers, 1), ids: make([]uint16, 0, deliverBatch),
	}
	select {
	case d.restoring <- struct{}{}: // no restoring goroutine connects in this consumer's name
		d.seat(c, nil)
		<-d.restoring
	case <-ctx.Done():
		return nil
	}
	defer d.leave(c)
	for again := false; ; again = true {
		err := d.consume(ctx, c, r, registered)
		d.seat(c, nil)
		if ctx.Err() != nil {
			return nil
		}
		if !again && !errors.Is(err, errInterrupted) {
			return fmt.Errorf("consume from %s: %w", d.topics[c.Topic], err)
		}
		d.logf("consumer %d of %s: %v; connecting again", c.ID, d.topics[c.Topic], err)
		_ = socket.Pause(ctx, retryPause)
	}
}

func (d *driving) consume(ctx context.Context, c driver.ConsumerConfig, r *receiver, registered func()) error {
	r.wire, r.ids, r.left = nil, r.ids[:0], false // of the connection before
	r.came.Reset()
	lossless := d.qos > 0
	at := station{id: d.clientID(c), clean: !lossless, keep: lossless, session: r, idle: r.settle, received: r.deliverOne}
	if driver.UsesStock(d.config.Client) {
		own := newStockReceiver(r)
		at.session, at.received = own, own.deliver
	}
	l, err := d.dial(ctx, at)
	if err != nil {
		return err
	}
	defer l.close(false)
	defer r.leave()
	if err := d.subscribe(ctx, l, c); err != nil {
		return err
	}
	d.seat(c, l)
	registered()
	select {
	case <-ctx.Done():
	case <-l.Done():
	}
	return errInterrupted
}

// receiver is the session of a consumer; it outlives connections. All but deliverOne and leave is called by the client's
// reading goroutine, which is alone while it runs.
type receiver struct {
	handshake
	turn      sync.Mutex // a batch is delivered and acknowledged, or neither
	left      bool       // nothing is delivered any more
	qos       byte
	sink      driver.Sink
	wire      *wire
	came      driver.Batch
	ids       []uint16
	one       driver.Batch // of deliverOne
	delivered *identifiers
}

// identifiers are the messages of a session at QoS 2 that were delivered but not yet released by the server: if sent again,
// they must not be delivered again.
type identifiers [1 << 16]bool

// unreleased returns the identifiers of a client's session; like the session they outlive the consumer.
func (d *driving) unreleased(client string) *identifiers {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ids[client] == nil {
		d.ids[client] = &identifiers{}
	}
	return d.ids[client]
}

// ConAckReceived implements session.SessionManager.
func (r *receiver) ConAckReceived(w io.Writer, c *packets.Connect, ack *packets.Connack) error {
	r.wire = w.(*wire) // what dial gave the client
	if !ack.SessionPresent {
		clear(r.delivered[:])
	}
	return r.handshake.ConAckReceived(w, c, ack)
}

// PacketReceived implements session.SessionManager.
func (r *receiver) PacketReceived(p *packets.ControlPacket, next chan<- *packets.Publish) error {
	switch m := p.Content.(type) {
	case *packets.Publish:
		if r.delivered[m.PacketID] && m.Duplicate {
			r.wire.answer(pubrec, m.PacketID)
			break
		}
		r.came.Add(m.Payload, func(name string) []byte { return header(m.Properties.User, name) })
		r.ids = append(r.ids, m.PacketID)
		if len(r.ids) == deliverBatch {
			r.settle()
		}
	case *packets.Pubrel:
		r.turn.Lock()
		defer r.turn.Unlock()
		if !r.left {
			r.delivered[m.PacketID] = false
			r.wire.answer(pubcomp, m.PacketID)
		}
	default:
		return r.handshake.PacketReceived(p, next)
	}
	return nil
}

// settle delivers the messages that have arrived and acknowledges them.
func (r *receiver) settle() {
	if r.wire == nil { // still connecting
		return
	}
	r.turn.Lock()
	defer r.turn.Unlock()
	if !r.left {
		r.accept()
	}
	r.came.Reset()
	r.ids = r.ids[:0]
}

func (r *receiver) accept() {
	r.came.Deliver(r.sink)
	for _, id := range r.ids {
		if r.qos == 1 {
			r.wire.answer(puback, id)
			continue
		}
		r.delivered[id] = true
		r.wire.answer(pubrec, id)
	}
	r.wire.push()
}

// leave waits until the messages being delivered are acknowledged, too. Later ones go to the next consumer.
func (r *receiver) leave() {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.left = true
}

// deliverOne takes a message of QoS 0; the client hands them over one by one.
func (r *receiver) deliverOne(m *paho.Publish) {
	r.one.Add(m.Payload, func(name string) []byte { return header(m.Properties.User, name) })
	r.one.Deliver(r.sink)
}

// header returns a header of a received message, which always has properties; nil if there is none of that name.
func header[U ~struct{ Key, Value string }](all []U, name string) []byte {
	for i := range all {
		if u := packets.User(all[i]); u.Key == name {
			return driver.Bytes(u.Value)
		}
	}
	return nil
}
