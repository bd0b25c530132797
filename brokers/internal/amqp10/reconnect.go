package amqp10

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// reconnect returns at once while the link lives; otherwise it tries once, at least retryPause after the last try. If
// messages are sent again, the first call after a loss doesn't try: what the lost link left open has to come first.
func (p *producer) reconnect(ctx context.Context) error {
	if ctx.Err() != nil || !p.link.dead() {
		return ctx.Err()
	}
	if p.link != nil && p.d.unsettled {
		p.link.Close()
		for p.link = nil; p.outcomes.Reported() < p.given; {
			time.Sleep(time.Millisecond)
		}
		return errLost
	}
	if err := socket.Pause(ctx, time.Until(p.retryAt)); err != nil {
		return err
	}
	err := p.connect(ctx)
	p.retryAt = time.Now().Add(retryPause)
	if err != nil {
		p.d.logf("producer %d: %v", p.cfg.ID, err)
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}

// connect dials, declares again what may not have survived the broker's restart, and attaches a sender for each topic.
func (p *producer) connect(ctx context.Context) error {
	p.link.Close()
	l, err := Dial(ctx, p.d.product, &p.d.config, p.cfg.ID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	mode := amqp.SenderSettleModeSettled
	if p.d.unsettled {
		mode = amqp.SenderSettleModeUnsettled
	}
	senders, arrived := map[int]*amqp.Sender{}, &arrivals{}
	for _, topic := range p.cfg.Topics {
		if p.again {
			err = errors.Join(err, p.d.dialect.Declare(ctx, l, p.d.topology, topic))
		}
		node := p.d.dialect.Target(p.d.topology, topic)
		sender, attachErr := l.Session.NewSender(ctx, node.Address, &amqp.SenderOptions{
			SettlementMode: &mode, TargetCapabilities: node.Capabilities, OnDeliveryStateChanged: arrived.one,
		})
		if err = errors.Join(err, attachErr); err != nil {
			l.Close()
			return fmt.Errorf("send to %s: %w", node.Address, err)
		}
		if limit := sender.MaxMessageSize(); limit > 0 && uint64(p.cfg.MaxBytes) > limit {
			l.Close()
			return driver.Unsupported(fmt.Sprintf("messageSize: %d", p.cfg.MaxBytes), "%s takes at most %d bytes", p.d.product.Name, limit)
		}
		senders[topic] = sender
	}
	p.link, p.again, p.senders, p.arrived = l, true, senders, arrived
	p.wire.Store(l)
	return nil
}
