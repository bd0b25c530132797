package mqtt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/brokermark/brokermark/internal/driver"
)

// Clean ends the sessions and drops their messages; it empties a queue that outlives them first.
func (d *driving) Clean(ctx context.Context) error {
	if d.product.SharedQueue != nil && d.shared() && d.qos > 0 && len(d.subscriptions) > 0 {
		for topic := range d.topics {
			if err := d.drain(ctx, topic); err != nil {
				return fmt.Errorf("empty the queues of %s: %w", d.topics[topic], err)
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.ids {
		l, err := d.dial(ctx, station{id: id, clean: true})
		if err != nil {
			return fmt.Errorf("end session %s: %w", id, err)
		}
		l.close(true)
		delete(d.ids, id)
	}
	return nil
}

// drain sends a last message and consumes until it comes: the server doesn't report a queue's length.
func (d *driving) drain(ctx context.Context, topic int) error {
	last := fmt.Appendf(nil, "last %016x", rand.Uint64())
	fate := make(fates, 1)
	p, err := d.Producer(ctx, driver.ProducerConfig{Topics: []int{topic}, InFlight: 1, MaxBytes: len(last)}, fate)
	if err != nil {
		return err
	}
	err = p.Send(ctx, []driver.Message{{Topic: topic, Payload: last}})
	if err == nil {
		select {
		case err = <-fate:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err = errors.Join(err, p.Close()); err != nil {
		return err
	}
	for subscription := range d.subscriptions {
		came, end := context.WithCancel(ctx)
		sink := until{last, end}
		err := d.Consume(came, driver.ConsumerConfig{Topic: topic, Subscription: subscription}, sink, func() {})
		end()
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// fates receives the outcomes of messages that are sent one at a time.
type fates chan error

// Done implements driver.Receipts.
func (f fates) Done(_ []uint32, err error) { f <- err }

// until forgets messages, and ends with the last one.
type until struct {
	last []byte
	end  func()
}

// Deliver implements driver.Sink.
func (u until) Deliver(batch []driver.Received) {
	for _, m := range batch {
		if bytes.Equal(m.Payload, u.last) {
			u.end()
		}
	}
}
