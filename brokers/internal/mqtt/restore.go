package mqtt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	restoreBudget = 10 * time.Second // for all subscriptions, whose consumers may be about to connect again
	comeback      = 5 * retryPause   // consumers of another process have so long to connect again
)

// restore makes a server that has lost its memory know every subscription again before a producer sends to it: it drops
// messages without a subscription, at QoS 2 silently.
func (d *driving) restore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, restoreBudget)
	defer cancel()
	select {
	case d.restoring <- struct{}{}: // a second session of the same name would end the first
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.restoring }()
	if len(d.subscriptions) == 0 {
		return nil
	}
	asking, err := d.ask(ctx)
	if err != nil {
		return err
	}
	defer asking.close(true)
	for topic := range d.topics {
		for subscription := range d.subscriptions {
			if err := d.subscribed(ctx, driver.ConsumerConfig{Topic: topic, Subscription: subscription}, asking); err != nil {
				return fmt.Errorf("make the subscriptions of %s again: %w", d.topics[topic], err)
			}
		}
	}
	return nil
}

// subscribed waits for the consumer that is at work, and has it subscribe once more, because it may have done so only
// before the server lost its memory. If none is at work in this process it creates the session, as Setup did, unless a
// consumer of another process does so first: connecting in its name would cut its connection.
func (d *driving) subscribed(ctx context.Context, c driver.ConsumerConfig, asking *asking) error {
	for ; ctx.Err() == nil; _ = socket.Pause(ctx, retryPause) {
		d.mu.Lock()
		l, working := d.seats[c.Seat()]
		d.mu.Unlock()
		if working {
			if l != nil && d.subscribe(ctx, l, c) == nil {
				return nil
			}
			continue
		}
		if there, err := asking.subscriber(ctx, d.presence(c)); err != nil || there && asking.told {
			return err
		}
		if time.Now().After(asking.until) {
			return d.begin(ctx, c, false)
		}
	}
	return ctx.Err()
}

// presence returns a topic to which only a consumer's session subscribes, beside the topic that it consumes, as long as the
// server knows it.
func (d *driving) presence(c driver.ConsumerConfig) string {
	return d.topics[c.Topic] + "/brokermark/" + d.clientID(c)
}

// asking is a connection that asks for sessions without their names.
type asking struct {
	*link
	told  bool      // the server reports missing subscribers, which MQTT doesn't demand
	until time.Time // a consumer of another process should be back
}

func (d *driving) ask(ctx context.Context) (*asking, error) {
	l, err := d.dial(ctx, station{clean: true})
	if err != nil {
		return nil, err
	}
	a := &asking{link: l, until: time.Now().Add(comeback)}
	there, err := a.subscriber(ctx, fmt.Sprintf("%s/brokermark/nobody.%016x", d.topics[0], rand.Uint64()))
	if a.told = !there; err != nil {
		l.close(true)
	}
	return a, err
}

// subscriber reports whether the topic has a subscriber.
func (a *asking) subscriber(ctx context.Context, topic string) (bool, error) {
	answer, err := a.Publish(ctx, &paho.Publish{Topic: topic, QoS: 1})
	if answer != nil { // a client without the right to publish there gets no such answer
		return answer.ReasonCode == packets.PubackSuccess, nil
	}
	return false, err
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
