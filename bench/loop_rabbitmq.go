package main

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// rabbitLoop is amqp091-go as it comes: a connection each for producer and consumer, the default exchange, one
// queue. With confirms: persistent messages in a durable queue, the confirms awaited in order behind a window, a
// prefetch of 1,000 and one acknowledgement for every 100 deliveries. Without: transient messages, no
// acknowledgements.
func rabbitLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	in, err := rabbitChannel(p)
	if err != nil {
		return err
	}
	defer in.close()
	if _, err := in.QueueDeclare(p.Name, p.Confirm, false, false, false, nil); err != nil {
		return err
	}
	defer func() { _, _ = in.QueueDelete(p.Name, false, false, false) }()
	if p.Confirm {
		if err := in.Qos(rabbitPrefetch, 0, false); err != nil {
			return err
		}
	}
	deliveries, err := in.Consume(p.Name, "", !p.Confirm, false, false, false, nil)
	if err != nil {
		return err
	}
	out, err := rabbitChannel(p)
	if err != nil {
		return err
	}
	defer out.close()
	started()
	go rabbitConsume(deliveries, p.Confirm, b)
	if p.Confirm {
		return rabbitConfirmed(ctx, out.Channel, p, b)
	}
	p.sendAll(ctx, b, 1, func(body []byte) {
		b.answered(ctx, out.PublishWithContext(ctx, "", p.Name, false, false, amqp.Publishing{DeliveryMode: amqp.Transient, Body: body}))
	})
	return nil
}

type rabbitEnd struct {
	*amqp.Channel
	conn *amqp.Connection
}

func rabbitChannel(p loopPlan) (rabbitEnd, error) {
	conn, err := amqp.Dial("amqp://guest:guest@" + p.Address + "/")
	if err != nil {
		return rabbitEnd{}, err
	}
	ch, err := conn.Channel()
	return rabbitEnd{ch, conn}, err
}

func (e rabbitEnd) close() { _ = e.conn.CloseDeadline(time.Now().Add(2 * time.Second)) }

func rabbitConfirmed(ctx context.Context, ch *amqp.Channel, p loopPlan, b *books) error {
	if err := ch.Confirm(false); err != nil {
		return err
	}
	pending := make(chan *amqp.DeferredConfirmation, p.Window-1) // and the one being waited for
	defer close(pending)
	go func() {
		for c := range pending {
			if c.Wait() {
				b.published.Add(1)
			}
		}
	}()
	p.sendAll(ctx, b, 1, func(body []byte) {
		c, err := ch.PublishWithDeferredConfirm("", p.Name, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: body})
		if err != nil {
			b.answered(ctx, err)
			return
		}
		pending <- c
	})
	return nil
}

func rabbitConsume(deliveries <-chan amqp.Delivery, acknowledge bool, b *books) {
	unacked := 0
	for d := range deliveries {
		b.arrived(d.Body)
		if unacked++; acknowledge && unacked == rabbitAckEvery {
			_ = d.Ack(true) // a lost connection shows at the producer
			unacked = 0
		}
	}
}
