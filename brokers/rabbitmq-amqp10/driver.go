// Package rabbitmqamqp10 drives and starts RabbitMQ 4 over AMQP 1.0, which it speaks beside 0-9-1: queues and exchanges made
// through its management node. It knows nothing of the protocol's connections and links.
package rabbitmqamqp10

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/driver"
)

// hostSetting is the client setting that names the virtual host, as the open frame has it.
const hostSetting = "hostname"

var product = &amqp10.Product{
	Name:          "rabbitmq-amqp10",
	Silence:       rabbitserver.Silence,
	Hostname:      hostSetting,
	Settings:      settings,
	FirstAcquirer: true,
	Supports:      supports,
	Maps:          natives,
	Logins:        []driver.Login{driver.ByCertificate},
	Failover:      true,
	QueueOrders:   true,
	Fits:          fits,
	Keeps:         keeps,
	Dialect:       func(c driver.Config) amqp10.Dialect { return &nodes{c} },
}

// unset leaves an argument out of the queue, so that the server's own default holds.
const unset = int64(-1)

var settings = []driver.Setting{
	{Scope: driver.ClientScope, Name: hostSetting, Default: "vhost:/", Doc: "virtual host, with vhost: in front"},
	{Scope: driver.TopicScope, Name: "x-queue-type", Default: "auto", Allowed: []string{"auto", "classic", "quorum"}, Doc: "auto: quorum for persistence fsync or several replicas, else classic"},
	{Scope: driver.TopicScope, Name: "x-max-length", Default: unset, Least: int64(1), Doc: "messages a queue may hold; -1: no limit"},
	{Scope: driver.TopicScope, Name: "x-overflow", Default: "", Idle: unlimited, Allowed: []string{"", "drop-head", "reject-publish"}, Doc: "what a full queue does; with reject-publish the message fails"},
	{Scope: driver.TopicScope, Name: "x-single-active-consumer", Default: false, Doc: "only one consumer of a queue gets messages, the others stand by; ordered always has it"},
}

func unlimited(_ driver.Guarantee, topic driver.Values) string {
	return driver.If(topic.Int("x-max-length") == unset, "x-max-length doesn't limit the queue")
}

// supports refuses what no queue of RabbitMQ can promise.
func supports(g driver.Guarantee) error {
	if g.Replicas > 1 && g.Acks == driver.AcksLeader {
		return driver.Unsupported("acks: leader", "a quorum queue accepts when a majority has the message, never earlier; use quorum")
	}
	return amqp10.Supports(g)
}

// fits implements amqp10.Product.
func fits(c driver.Config, _ driver.Shape) error {
	g := c.Guarantee
	switch {
	case strings.HasPrefix(c.Target.Version, "3."):
		return driver.Unsupported("version: "+c.Target.Version, "RabbitMQ has addresses for queues and a management node since 4.0; broker rabbitmq speaks AMQP 0-9-1 with older ones")
	case !strings.HasPrefix(c.Client.String(hostSetting), "vhost:"):
		return driver.Unsupported("client."+hostSetting+": "+c.Client.String(hostSetting), "RabbitMQ reads a virtual host only behind vhost:, as in vhost:/")
	case quorum(g, c.Topic):
		return nil
	case g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "a classic queue of RabbitMQ 4 accepts what it has handed to the operating system; use a quorum queue")
	case g.Replicas > 1:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "a classic queue has one copy; use a quorum queue")
	}
	return nil
}

// keeps implements amqp10.Product. A message that a full queue rejects is no loss: the producer learns of it.
func keeps(_, topic driver.Values, _ int64) driver.Limit {
	if topic.String("x-overflow") == "reject-publish" {
		return driver.Limit{}
	}
	return driver.Fullest(topic, 0, map[string]int64{"x-max-length": 1})
}

func quorum(g driver.Guarantee, topic driver.Values) bool {
	kind := topic.String("x-queue-type")
	return kind == "quorum" || kind == "auto" && (g.Persistence == driver.Fsync || g.Replicas > 1)
}

// nodes maps a topic to a queue, or to a fanout exchange with a queue for each subscription.
type nodes struct{ config driver.Config }

// exchanged reports whether a topic is an exchange: without a subscription, too, it is something that can be sent to.
func exchanged(t driver.Topology) bool { return len(t.Subscriptions) != 1 }

func queue(t driver.Topology, topic, subscription int) string {
	return t.Topics[topic].Name + "." + t.Subscriptions[subscription]
}

func path(kind, name string) string { return "/" + kind + "/" + url.PathEscape(name) }

// Declare creates the queues, and the exchange with its bindings.
func (n *nodes) Declare(ctx context.Context, l *amqp10.Link, t driver.Topology, topic int) error {
	return managed(ctx, l, func(m *management) error { return n.declare(ctx, m, t, topic) })
}

func (n *nodes) declare(ctx context.Context, m *management, t driver.Topology, topic int) error {
	exchange := t.Topics[topic].Name
	if exchanged(t) {
		if err := m.ask(ctx, "PUT", path("exchanges", exchange), map[string]any{"type": "fanout", "durable": true}); err != nil {
			return err
		}
	}
	for subscription := range t.Subscriptions {
		name := queue(t, topic, subscription)
		if err := m.ask(ctx, "PUT", path("queues", name), map[string]any{"durable": true, "arguments": n.arguments()}); err != nil {
			return err
		}
		if !exchanged(t) {
			continue
		}
		binding := map[string]any{"source": exchange, "destination_queue": name, "binding_key": "", "arguments": map[string]any{}}
		if err := m.ask(ctx, "POST", "/bindings", binding); err != nil {
			return err
		}
	}
	return nil
}

// arguments returns the queue's arguments that were asked for or follow from the guarantee, by their native names.
func (n *nodes) arguments() map[string]any {
	args := driver.Completed(driver.Changed(settings, n.config.Topic), map[string]any{"x-queue-type": "classic"})
	if quorum(n.config.Guarantee, n.config.Topic) {
		args["x-queue-type"], args["x-quorum-initial-group-size"] = "quorum", int64(max(1, n.config.Guarantee.Replicas))
	}
	if n.config.Guarantee.Ordering == driver.Ordered {
		args["x-single-active-consumer"] = true
	}
	return args
}

// Remove deletes the queues with their messages, and the exchange.
func (n *nodes) Remove(ctx context.Context, l *amqp10.Link, t driver.Topology, topic int) error {
	return managed(ctx, l, func(m *management) error { return remove(ctx, m, t, topic) })
}

func remove(ctx context.Context, m *management, t driver.Topology, topic int) error {
	for subscription := range t.Subscriptions {
		if err := m.ask(ctx, "DELETE", path("queues", queue(t, topic, subscription)), nil); err != nil {
			return err
		}
	}
	if exchanged(t) {
		return m.ask(ctx, "DELETE", path("exchanges", t.Topics[topic].Name), nil)
	}
	return nil
}

// Target returns the queue, or the exchange.
func (n *nodes) Target(t driver.Topology, topic int) amqp10.Node {
	if exchanged(t) {
		return amqp10.Node{Address: path("exchanges", t.Topics[topic].Name)}
	}
	return n.Source(t, topic, 0)
}

// Source returns the subscription's queue.
func (n *nodes) Source(t driver.Topology, topic, subscription int) amqp10.Node {
	return amqp10.Node{Address: path("queues", queue(t, topic, subscription))}
}
