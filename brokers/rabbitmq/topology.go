package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"
	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/internal/driver"
)

// Setup declares the exchanges and queues of t; it may be called again after a restart of the broker.
func (d *rabbit) Setup(ctx context.Context, t driver.Topology) error {
	d.topo = t
	asked := d.cfg
	asked.Target.Version, _ = d.control.conn.Properties["version"].(string)
	if err := fits(asked, t.Shape()); err != nil {
		return err
	}
	if t.Found {
		return d.find(ctx)
	}
	if t.Existing {
		return nil
	}
	return d.each(ctx, d.declare)
}

// Clean removes the queues and exchanges with the messages in them. The broker ignores missing ones.
func (d *rabbit) Clean(ctx context.Context) error { return d.each(ctx, d.remove) }

// setupAtOnce is the number of channels that declare the topics of a wide topology.
const setupAtOnce = 16

// each calls do for every topic on several channels: each durable queue means waiting for an answer.
func (d *rabbit) each(ctx context.Context, do func(ch *amqp.Channel, topic int) error) error {
	if d.control.dead() {
		d.control.close()
		l, err := d.dial(ctx, 0)
		if err != nil {
			return err
		}
		d.control = l
	}
	stop := context.AfterFunc(ctx, func() { _ = d.control.wire.Close() })
	defer stop()
	topics := len(d.topo.Topics)
	var declaring errgroup.Group
	for first := range min(topics, setupAtOnce) {
		declaring.Go(func() error {
			ch := d.control.ch
			if first > 0 {
				var err error
				if ch, err = d.control.conn.Channel(); err != nil {
					return fmt.Errorf("open a channel: %w", err)
				}
				defer ch.Close()
			}
			for topic := first; topic < topics; topic += setupAtOnce {
				if err := do(ch, topic); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return declaring.Wait()
}

// declare creates the queues and exchange of one topic. It changes nothing that exists already or belongs to another application.
func (d *rabbit) declare(ch *amqp.Channel, topic int) error {
	if d.topo.Found {
		return nil
	}
	t := d.topo.Topics[topic]
	kind, name := d.exchange(topic)
	if name != "" {
		if err := ch.ExchangeDeclare(name, kind, d.durable || d.quorum, false, false, false, nil); err != nil {
			return refusal("exchange "+name, err)
		}
	}
	args := d.arguments()
	for subscription := range d.topo.Subscriptions {
		for partition := range max(1, t.Partitions) {
			queue := d.queue(topic, subscription, partition)
			if _, err := ch.QueueDeclare(queue, d.durable || d.quorum, false, false, false, args); err != nil {
				return refusal("queue "+queue, err)
			}
			if name == "" {
				continue
			}
			if err := ch.QueueBind(queue, strconv.Itoa(partition), name, false, nil); err != nil {
				return refusal("binding of queue "+queue, err)
			}
		}
	}
	return nil
}

// remove deletes what declare has created.
func (d *rabbit) remove(ch *amqp.Channel, topic int) error {
	if d.topo.Found {
		return nil
	}
	for subscription := range d.topo.Subscriptions {
		for partition := range max(1, d.topo.Topics[topic].Partitions) {
			queue := d.queue(topic, subscription, partition)
			if _, err := ch.QueueDelete(queue, false, false, false); err != nil {
				return fmt.Errorf("remove queue %s: %w", queue, err)
			}
		}
	}
	if _, name := d.exchange(topic); name != "" {
		if err := ch.ExchangeDelete(name, false, false); err != nil {
			return fmt.Errorf("remove exchange %s: %w", name, err)
		}
	}
	return nil
}

// refusal distinguishes a setting that the broker refuses from a broker that can't be reached.
func refusal(what string, err error) error {
	var e *amqp.Error
	final := []int{amqp.PreconditionFailed, amqp.NotImplemented, amqp.NotAllowed, amqp.InternalError}
	if errors.As(err, &e) && e.Server && slices.Contains(final, e.Code) {
		return driver.Unsupported(what, "the broker refused it: %s", e.Reason)
	}
	return fmt.Errorf("declare %s: %w", what, err)
}

// exchange is the type and name of a topic's exchange; the default exchange has an empty name.
func (d *rabbit) exchange(topic int) (kind, name string) {
	t := d.topo.Topics[topic]
	if d.topo.Found {
		return "default", ""
	}
	kind = exchangeKind(d.cfg.Topic.String("exchange"), len(d.topo.Subscriptions), t.Partitions)
	if kind == "default" {
		return kind, ""
	}
	return kind, t.Name
}

func (d *rabbit) queue(topic, subscription, partition int) string {
	t := d.topo.Topics[topic]
	if d.topo.Found {
		return t.Name
	}
	name := t.Name + "." + d.topo.Subscriptions[subscription]
	if t.Partitions > 1 {
		name += "." + strconv.Itoa(partition)
	}
	return name
}
