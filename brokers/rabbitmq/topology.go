package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/internal/driver"
)

// Setup declares the exchanges and queues of t; it may be called again after the broker has restarted.
func (d *rabbit) Setup(ctx context.Context, t driver.Topology) error {
	d.topo = t
	if err := d.versionAllows(); err != nil {
		return err
	}
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
	return d.declareAll()
}

// setupAtOnce is how many channels declare the topics of a wide topology.
const setupAtOnce = 16

// declareAll creates what the topics need: a durable queue is an answer to wait for each.
func (d *rabbit) declareAll() error {
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
				if err := d.declare(ch, topic); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return declaring.Wait()
}

// versionAllows refuses settings that this server would accept and ignore.
func (d *rabbit) versionAllows() error {
	text, _ := d.control.conn.Properties["version"].(string)
	major, rest, _ := strings.Cut(text, ".")
	minor, _, _ := strings.Cut(rest, ".")
	x, _ := strconv.Atoi(major)
	y, _ := strconv.Atoi(minor)
	if d.cfg.Topic.String("x-queue-mode") != "" && (x > 3 || x == 3 && y >= 12) {
		return driver.Unsupported("x-queue-mode", "RabbitMQ %s ignores it: since 3.12 every classic queue keeps its messages on disk", text)
	}
	if d.cfg.Topic.Int("x-queue-version") != unset && x >= 4 {
		return driver.Unsupported("x-queue-version", "RabbitMQ %s has version 2 only", text)
	}
	return nil
}

// declare creates what one topic needs; it changes nothing where that exists already.
func (d *rabbit) declare(ch *amqp.Channel, topic int) error {
	t := d.topo.Topics[topic]
	kind, name := d.exchange(topic)
	if kind == "fanout" && t.Partitions > 1 {
		return driver.Unsupported("exchange: fanout", "it gives every partition a copy; topic %s has %d partitions", t.Name, t.Partitions)
	}
	if kind == "default" && len(d.topo.Subscriptions) > 1 {
		return driver.Unsupported("exchange: default", "it reaches one queue per message; there are %d subscriptions", len(d.topo.Subscriptions))
	}
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

// refusal tells a setting that the broker won't have from a broker that can't be reached.
func refusal(what string, err error) error {
	var e *amqp.Error
	final := []int{amqp.PreconditionFailed, amqp.NotImplemented, amqp.NotAllowed, amqp.InternalError}
	if errors.As(err, &e) && e.Server && slices.Contains(final, e.Code) {
		return driver.Unsupported(what, "the broker refused it: %s", e.Reason)
	}
	return fmt.Errorf("declare %s: %w", what, err)
}

// exchange is the type and name of a topic's exchange; the default exchange has no name.
func (d *rabbit) exchange(topic int) (kind, name string) {
	t := d.topo.Topics[topic]
	kind = d.cfg.Topic.String("exchange")
	if kind == "auto" {
		switch {
		case len(d.topo.Subscriptions) == 1:
			kind = "default"
		case t.Partitions > 1:
			kind = "direct"
		default:
			kind = "fanout"
		}
	}
	if kind == "default" {
		return kind, ""
	}
	return kind, t.Name
}

func (d *rabbit) queue(topic, subscription, partition int) string {
	t := d.topo.Topics[topic]
	name := t.Name + "." + d.topo.Subscriptions[subscription]
	if t.Partitions > 1 {
		name += "." + strconv.Itoa(partition)
	}
	return name
}
