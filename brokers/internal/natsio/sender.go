package natsio

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// Sender is a producer that publishes without waiting for answers: there are none.
type Sender struct {
	conn     *Conn
	watch    *socket.Watch
	subjects []string // by topic
	headers  Headers
	message  nats.Msg // reused
	receipts driver.Receipts
	done     []uint32
}

// NewSender connects a producer that publishes topic i to subjects[i].
func NewSender(d *Dialer, subjects []string, c driver.ProducerConfig, r driver.Receipts) (*Sender, error) {
	conn, err := d.Dial(fmt.Sprintf("producer %d", c.ID), nil, nil)
	if err != nil {
		return nil, err
	}
	if err := CheckSize(conn, c.MaxBytes); err != nil {
		conn.Shut()
		return nil, err
	}
	conn.WhenDenied(func(err error) { driver.Refuse(r, err) })
	return &Sender{headers: NewHeaders(c.Headers, nil), conn: conn, watch: socket.NewWatch(conn.Cut), subjects: subjects, receipts: r}, nil
}

// Send completes a slot once the client has copied its message; the client's flusher writes it out by itself.
func (p *Sender) Send(ctx context.Context, batch []driver.Message) error {
	p.watch.Enter(ctx)
	defer p.watch.Leave()
	p.done = p.done[:0]
	for i := range batch {
		m := &batch[i]
		err := ctx.Err()
		if err == nil {
			err = p.publish(m)
		}
		if err != nil {
			p.receipts.Done([]uint32{m.Slot}, err)
			continue
		}
		p.done = append(p.done, m.Slot)
	}
	if len(p.done) > 0 {
		p.receipts.Done(p.done, nil)
	}
	return ctx.Err()
}

func (p *Sender) publish(m *driver.Message) error {
	if p.headers.Map == nil {
		return p.conn.Publish(p.subjects[m.Topic], m.Payload)
	}
	p.headers.Set(m.Headers.Values())
	p.message.Subject, p.message.Data, p.message.Header = p.subjects[m.Topic], m.Payload, p.headers.Map
	return p.conn.PublishMsg(&p.message)
}

// Flush has nothing to do: the flusher runs as soon as anything is buffered, and the client's own Flush waits for the
// server's answer.
func (p *Sender) Flush(context.Context) error { return nil }

// Close makes the server read the published messages, as far as it can within a few seconds.
func (p *Sender) Close() error {
	p.watch.Stop()
	p.conn.Finish()
	return nil
}
