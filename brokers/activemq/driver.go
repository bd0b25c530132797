// Package activemq drives and starts Apache ActiveMQ Classic: AMQP 1.0 through go-amqp, queues and virtual topics. It
// knows nothing of the protocol's connections and links.
package activemq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
)

var product = &amqp10.Product{
	Name:    "activemq",
	Silence: "ActiveMQ reads nothing from producers, and does not say why, while memoryUsage, storeUsage or tempUsage is used up, unless policy.sendFailIfNoSpace is true",

	MostClients: "amqp.maximumConnections",
	Settings: []driver.Setting{
		{Scope: driver.TopicScope, Name: "destination", Default: "auto", Allowed: []string{"auto", "queue", "topic", "VirtualTopic"}, Doc: "auto: a queue for one subscription, a virtual topic with a queue each for several; topic: keeps nothing for consumers that are not connected"},
	},
	Supports: supports,
	Maps:     natives,
	Fits:     fits,
	Dialect:  func(c driver.Config) amqp10.Dialect { return &destinations{c.Topic.String("destination")} },
}

const (
	noCredit = -1
	// emptyAfter is the silence after which a queue counts as empty: the protocol's own way, draining the credit, gets no
	// answer from this broker.
	emptyAfter = 500 * time.Millisecond
)

// supports refuses what no queue of ActiveMQ can promise.
func supports(g driver.Guarantee) error {
	if g.Replicas > 1 {
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "a network of brokers passes messages on and copies none, and a pair with a shared store has one copy")
	}
	return amqp10.Supports(g)
}

// destinations maps a topic to a queue, or to a virtual topic that the broker copies to a queue for each subscription.
type destinations struct{ kind string }

// fits implements amqp10.Product.
func fits(c driver.Config, s driver.Shape) error {
	kept := reach.Follows(c.Target, stored)
	switch want := c.Guarantee.Persistence; {
	case want == driver.Memory:
	case kept == "" && want == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "it can't be checked on a broker that was not started here; KahaDB's defaults would keep it")
	case kept == driver.Memory:
		return driver.Unsupported("persistence: "+string(want), "it needs persistent: true and kahaDB.journalDiskSyncStrategy: always, both the default; otherwise the broker doesn't wait for the write at all")
	}
	if c.Topic.String("destination") == "queue" && s.Subscriptions > 1 {
		return driver.Unsupported("topicConfig.destination: queue", "it gives a message to one consumer; there are %d subscriptions", s.Subscriptions)
	}
	if c.Topic.String("destination") == plainTopic {
		return fitsTopic(c.Guarantee, s)
	}
	return nil
}

// plainTopic gives every consumer that is connected each message, and keeps none.
const plainTopic = "topic"

// fitsTopic refuses guarantees that a topic can't keep for non-durable subscribers.
func fitsTopic(g driver.Guarantee, s driver.Shape) error {
	const setting = "topicConfig.destination: topic"
	switch {
	case g.Delivery != driver.AtMostOnce:
		return driver.Unsupported(setting, "it keeps nothing for a consumer that has lost its connection; ask for delivery: at-most-once, or take VirtualTopic")
	case g.Persistence != driver.Memory:
		return driver.Unsupported(setting, "nothing of it is stored for such consumers; ask for persistence: memory, or take VirtualTopic")
	case s.Consumers > 1:
		return driver.Unsupported(setting, "each of the %d consumers of a subscription would get every message; use one, or VirtualTopic", s.Consumers)
	case s.Backlog:
		return driver.Unsupported(setting, "it keeps nothing for consumers that are not connected, so there is no backlog")
	}
	return nil
}

func (d *destinations) virtual(t driver.Topology) bool {
	return d.kind == "VirtualTopic" || d.kind == "auto" && len(t.Subscriptions) > 1
}

// Target returns the queue or the virtual topic.
func (d *destinations) Target(t driver.Topology, topic int) amqp10.Node {
	if d.kind == plainTopic {
		return topicNode(t, topic)
	}
	if d.virtual(t) {
		return amqp10.Node{Address: "topic://VirtualTopic." + t.Topics[topic].Name, Capabilities: []string{"topic"}}
	}
	return amqp10.Node{Address: "queue://" + t.Topics[topic].Name, Capabilities: []string{"queue"}}
}

func topicNode(t driver.Topology, topic int) amqp10.Node {
	return amqp10.Node{Address: "topic://" + t.Topics[topic].Name, Capabilities: []string{"topic"}}
}

// oneSegment keeps a subscription's name from being taken for several parts of a destination's.
var oneSegment = strings.NewReplacer(".", "_", "*", "_", ">", "_")

// Source returns the subscription's queue; consumers of the same one share its messages.
func (d *destinations) Source(t driver.Topology, topic, subscription int) amqp10.Node {
	if d.kind == plainTopic {
		return topicNode(t, topic)
	}
	address := "queue://" + t.Topics[topic].Name
	if d.virtual(t) {
		address = "queue://Consumer." + oneSegment.Replace(t.Subscriptions[subscription]) + ".VirtualTopic." + t.Topics[topic].Name
	}
	return amqp10.Node{Address: address, Capabilities: []string{"queue"}}
}

// Declare attaches to every queue, which creates it: a virtual topic copies only to queues that exist.
func (d *destinations) Declare(ctx context.Context, l *amqp10.Link, t driver.Topology, topic int) error {
	if strings.ContainsAny(t.Topics[topic].Name, "*>,") {
		return driver.Unsupported("topic "+t.Topics[topic].Name, "the characters * > and , have a meaning in destinations")
	}
	if d.kind == plainTopic { // the broker makes it for its first consumer
		return nil
	}
	for subscription := range t.Subscriptions {
		r, err := d.attach(ctx, l, t, topic, subscription, noCredit)
		if err != nil {
			return err
		}
		if err := r.Close(ctx); err != nil {
			return err
		}
	}
	return nil
}

// attach makes a receiver with credit for as many messages, or with none.
func (d *destinations) attach(ctx context.Context, l *amqp10.Link, t driver.Topology, topic, subscription int, credit int32) (*amqp.Receiver, error) {
	settled := amqp.SenderSettleModeSettled
	node := d.Source(t, topic, subscription)
	r, err := l.Session.NewReceiver(ctx, node.Address, &amqp.ReceiverOptions{
		Credit: credit, RequestedSenderSettleMode: &settled, SourceCapabilities: node.Capabilities,
	})
	if err != nil {
		return nil, fmt.Errorf("attach to %s: %w", node.Address, err)
	}
	return r, nil
}

// Remove empties the queues. The protocol can't delete them; an empty queue costs the broker next to nothing.
func (d *destinations) Remove(ctx context.Context, l *amqp10.Link, t driver.Topology, topic int) error {
	if d.kind == plainTopic {
		return nil
	}
	for subscription := range t.Subscriptions {
		r, err := d.attach(ctx, l, t, topic, subscription, 1000)
		if err != nil {
			return err
		}
		for err == nil {
			quiet, cancel := context.WithTimeout(ctx, emptyAfter)
			_, err = r.Receive(quiet, nil)
			cancel()
		}
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("empty %s: %w", r.Address(), err)
		}
		if err := r.Close(ctx); err != nil {
			return err
		}
	}
	return nil
}
