// Package rabbitmq drives and starts RabbitMQ: AMQP 0-9-1 through amqp091-go, classic and quorum queues. It knows
// nothing of time stamps, histograms or phases.
package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/internal/driver"
)

func init() {
	driver.Register(driver.Kind{
		Name:     "rabbitmq",
		Client:   "github.com/rabbitmq/amqp091-go",
		Settings: settings,
		Procs:    1, // every message passes three goroutines of the client: with two threads that cost 13 instead of 9 CPU-s per million
		Supports: supports,
		Maps:     natives,
		Failover: true,
		Shared:   true,
		Open:     open,
	})
}

// rabbit is the driver of one running broker or cluster.
type rabbit struct {
	cfg     driver.Config
	control *link // for Setup
	quorum  bool  // queues are quorum queues
	durable bool  // queues and messages are written down
	confirm bool  // publishes wait for the broker's confirm
	autoAck bool  // consumers don't acknowledge
	topo    driver.Topology
}

// supports refuses what no queue of RabbitMQ can promise.
func supports(g driver.Guarantee) error {
	switch {
	case g.Delivery == driver.ExactlyOnce:
		return driver.Unsupported("delivery: exactly-once", "RabbitMQ redelivers what was not acknowledged and knows no duplicates")
	case g.Delivery == driver.AtLeastOnce && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "at-least-once needs the publisher confirm")
	case g.Delivery == driver.AtMostOnce && g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "at-most-once publishes without confirms; use none")
	case g.Delivery == driver.AtMostOnce && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "at-most-once asks for no confirm, so nothing waits for the disk")
	case g.Replicas > 1 && g.Acks == driver.AcksLeader:
		return driver.Unsupported("acks: leader", "a quorum queue confirms when a majority has the message, never earlier; use quorum")
	}
	return nil
}

// open connects and settles what the guarantee asks of queues, messages and consumers.
func open(ctx context.Context, c driver.Config) (driver.Driver, error) {
	if c.Log != nil {
		clientLog.to.Store(&c.Log)
	}
	g := c.Guarantee
	if err := supports(g); err != nil {
		return nil, err
	}
	if c.Client.Bool("mandatory") && g.Delivery == driver.AtMostOnce {
		return nil, driver.Unsupported("mandatory", "at-most-once settles a message before it could be returned")
	}
	d := settled(c)
	if !d.quorum && needsQuorum(g) {
		if g.Replicas > 1 {
			return nil, driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "a classic queue lives on one node; use a quorum queue")
		}
		return nil, driver.Unsupported("persistence: fsync", "a classic queue of RabbitMQ 4 confirms what it has handed to the operating system; use a quorum queue")
	}
	var err error
	if d.control, err = d.dial(ctx, 0); err != nil {
		return nil, driver.Explain("rabbitmq", c.Target.Addresses, c.Target, err)
	}
	if err := d.agreed(); err != nil {
		d.control.close()
		return nil, err
	}
	return d, nil
}

// agreed refuses what was asked for and the server has talked the client out of: each side may lower these.
func (d *rabbit) agreed() error {
	asked, got := d.config(), d.control.conn.Config
	switch {
	case asked.Heartbeat%time.Second != 0:
		return driver.Unsupported("client.heartbeat", "%s is not a whole number of seconds", asked.Heartbeat)
	case got.Heartbeat != asked.Heartbeat:
		return driver.Unsupported("client.heartbeat", "the server lowers %s to %s", asked.Heartbeat, got.Heartbeat)
	case got.FrameSize != asked.FrameSize:
		return driver.Unsupported("client.frame_max", "the server lowers %d to %d", asked.FrameSize, got.FrameSize)
	}
	return nil
}

// settled is the driver with what the guarantee asks of queues, messages and consumers.
func settled(c driver.Config) *rabbit {
	g := c.Guarantee
	return &rabbit{
		cfg:     c,
		quorum:  quorum(g, c.Topic),
		durable: g.Persistence != driver.Memory,
		confirm: g.Delivery == driver.AtLeastOnce,
		autoAck: g.Delivery == driver.AtMostOnce,
	}
}

func quorum(g driver.Guarantee, topic driver.Values) bool {
	kind := topic.String("x-queue-type")
	return kind == "quorum" || kind == "auto" && needsQuorum(g)
}

func needsQuorum(g driver.Guarantee) bool { return g.Persistence == driver.Fsync || g.Replicas > 1 }

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

func (d *rabbit) Close() error {
	d.control.close()
	return nil
}
