package natsio

import (
	"context"
	"fmt"
	"time"
)

const (
	announceBudget = 5 * time.Second
	announcePause  = 2 * time.Millisecond
)

// Announced waits until every node knows the subscriptions that c has made: a server answers before the others have heard
// of a subscription, and they drop messages without one.
func (d *Dialer) Announced(ctx context.Context, c *Conn) error {
	ctx, cancel := context.WithTimeout(ctx, announceBudget)
	defer cancel()
	if err := c.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("no answer from the server: %w", err)
	}
	if len(d.target.Addresses) < 2 {
		return nil
	}
	// Servers announce subscriptions in order, so a later subscription that a node knows vouches for the earlier ones.
	later := c.NewInbox()
	sub, err := c.SubscribeSync(later)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection may be gone
	for _, address := range d.target.Addresses {
		if err := d.heardFrom(ctx, address, later, func() bool {
			m, err := sub.NextMsg(announcePause)
			return err == nil && string(m.Data) == address // not a late one from the node before
		}); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dialer) heardFrom(ctx context.Context, address, subject string, heard func() bool) error {
	node, err := d.dial([]string{address}, "probe", nil, nil)
	if err != nil {
		d.Logf("%v", err) // a node that is down serves no client
		return nil
	}
	defer node.Shut()
	for {
		if err := node.Publish(subject, []byte(address)); err != nil {
			return err
		}
		if heard() {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("node %s has not learnt of the subscription: %w", address, ctx.Err())
		}
	}
}
