package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// reconnect returns at once while the link lives; otherwise it tries once, at least retryPause after the last attempt. If
// messages are sent again, the first call after a loss does nothing: the messages of the lost link come first.
func (p *producer) reconnect(ctx context.Context) error {
	if ctx.Err() != nil || !p.link.dead() {
		return ctx.Err()
	}
	if p.link != nil && p.d.confirm {
		lost := p.link
		lost.close()
		for p.link = nil; p.outcomes.Reported() < p.given; {
			time.Sleep(time.Millisecond)
		}
		p.alone = lost.refusal() != nil && !lost.culprit
		return errLost
	}
	if p.link != nil { // without confirms, the message that made the broker close it is already known
		if why := p.link.refusal(); why != nil {
			driver.Refuse(p.receipts, why)
		}
	}
	if err := socket.Pause(ctx, time.Until(p.retryAt)); err != nil {
		return err
	}
	err := p.connect(ctx)
	p.retryAt = time.Now().Add(retryPause)
	if err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}

func (p *producer) connect(ctx context.Context) error {
	p.link.close()
	l, err := p.d.attach(ctx, "producer", p.cfg.ID)
	if err != nil {
		return err
	}
	defer l.bound(ctx)()
	if p.d.confirm {
		err = l.ch.Confirm(false)
	}
	if p.mandatory { // room for all of them: the client's reader must never wait for settle
		l.returns = l.ch.NotifyReturn(make(chan amqp.Return, p.cfg.InFlight))
	}
	if p.again { // queues that aren't durable are lost in a restart
		for t := range p.routes {
			err = errors.Join(err, p.d.declare(l.ch, t))
		}
	}
	if err != nil {
		l.close()
		return err
	}
	p.link, p.again = l, true
	p.wire.Store(l.wire)
	p.listen(l)
	return nil
}

// listen reports to the receipts for how long the broker blocks l's connection, until that has ended.
func (p *producer) listen(l *link) {
	driver.Hold(p.receipts, "") // clears what held up the previous connection
	blocked := l.conn.NotifyBlocked(make(chan amqp.Blocking, 1))
	go func() {
		for b := range blocked { // closed with the connection
			why := ""
			if b.Active {
				why = "connection.blocked: " + b.Reason
			}
			driver.Hold(p.receipts, why)
		}
	}()
}
