package mqtt

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// restoreBudget is for all subscriptions, whose consumers may be about to connect again.
const restoreBudget = 10 * time.Second

// restore makes a server that has lost its memory know every subscription again before a producer sends to it: it
// drops what nobody subscribed, at QoS 2 without telling.
func (d *driving) restore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, restoreBudget)
	defer cancel()
	select {
	case d.restoring <- struct{}{}: // a second session of the same name would end the first
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.restoring }()
	for topic := range d.topics {
		for subscription := range d.subscriptions {
			if err := d.subscribed(ctx, driver.ConsumerConfig{Topic: topic, Subscription: subscription}); err != nil {
				return fmt.Errorf("make the subscriptions of %s again: %w", d.topics[topic], err)
			}
		}
	}
	return nil
}

// subscribed waits for the consumer that is at work, and has it subscribe once more, because whether it has done so on
// this server or on the one before can't be told; where none is at work it makes the session, as Setup did.
func (d *driving) subscribed(ctx context.Context, c driver.ConsumerConfig) error {
	for {
		d.mu.Lock()
		l, working := d.seats[c.Seat()]
		d.mu.Unlock()
		if !working {
			return d.begin(ctx, c, false)
		}
		if l != nil && d.subscribe(ctx, l, c) == nil {
			return nil
		}
		pause(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (d *driving) seat(c driver.ConsumerConfig, l *link) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seats[c.Seat()] = l
}

func (d *driving) leave(c driver.ConsumerConfig) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.seats, c.Seat())
}
