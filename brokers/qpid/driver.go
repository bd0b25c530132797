// Package qpid drives and starts Apache Qpid Broker-J: AMQP 1.0 through go-amqp, queues and exchanges made through the
// broker's management node. It knows nothing of the protocol's connections and links.
package qpid

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
)

// vhostSetting is the client setting that names the virtual host.
const vhostSetting = "vhost"

var product = &amqp10.Product{
	Name:     "qpid",
	Hostname: vhostSetting,
	Settings: settings,
	Supports: supports,
	Maps:     natives,
	Server:   served,
	Failover: true,
	Fits:     fits,
	Keeps:    keeps,
	Dialect:  func(c driver.Config) amqp10.Dialect { return &nodes{c} },
}

// unset leaves an attribute out of the queue, so that the server's own default holds.
const unset = int64(-1)

var settings = []driver.Setting{
	{Scope: driver.ClientScope, Name: vhostSetting, Default: "", Doc: "virtual host; empty: the one that the broker has for the address's host name"},
	{Scope: driver.TopicScope, Name: "type", Default: "standard", Allowed: []string{"standard", "lvq", "priority"}, Doc: "kind of queue; lvq keeps only the newest message of each key"},
	{Scope: driver.TopicScope, Name: "lvqKey", Default: "", Doc: "the property that an lvq goes by; empty: the server's default"},
	{Scope: driver.TopicScope, Name: "maximumQueueDepthMessages", Default: unset, Doc: "messages a queue may hold; -1: no limit"},
	{Scope: driver.TopicScope, Name: "maximumQueueDepthBytes", Default: unset, Doc: "bytes a queue may hold; -1: no limit"},
	{Scope: driver.TopicScope, Name: "overflowPolicy", Default: "", Allowed: []string{"", "NONE", "RING", "PRODUCER_FLOW_CONTROL", "FLOW_TO_DISK", "REJECT"}, Doc: "what a full queue does"},
	{Scope: driver.TopicScope, Name: "messageDurability", Default: "", Allowed: []string{"", "DEFAULT", "ALWAYS", "NEVER"}, Doc: "whether messages are stored whatever they ask for"},
	{Scope: driver.TopicScope, Name: "maximumMessageTtl", Default: unset, Doc: "milliseconds a message may wait at most; -1: for ever"},
	{Scope: driver.TopicScope, Name: "maximumDeliveryAttempts", Default: unset, Doc: "deliveries before a message is taken out of the queue; -1: the server's default, no limit"},
	{Scope: driver.TopicScope, Name: "maximumLiveConsumers", Default: unset, Doc: "consumers of a queue that get messages, the others stand by; -1: all"},
	{Scope: driver.TopicScope, Name: "ensureNondestructiveConsumers", Default: false, Doc: "consuming leaves messages in the queue"},
	{Scope: driver.TopicScope, Name: "messageGroupType", Default: "auto", Allowed: []string{"auto", "NONE", "STANDARD", "SHARED_GROUPS"}, Doc: "auto: STANDARD where messages have a group-id, else NONE"},
}

// supports refuses what no queue of Qpid can promise.
func supports(g driver.Guarantee) error {
	if g.Replicas > 1 {
		switch {
		case g.Acks == driver.AcksLeader:
			return driver.Unsupported("acks: leader", "a group commits when a majority has the transaction, never earlier; use quorum")
		case g.Persistence == driver.Memory:
			return driver.Unsupported("persistence: memory", "only what is stored is replicated; use log or fsync")
		}
	}
	return amqp10.Supports(g)
}

// nodes maps a topic to a queue, or to a fanout exchange with a queue for each subscription.
type nodes struct{ config driver.Config }

// fits implements amqp10.Product.
func fits(c driver.Config, _ driver.Shape) error {
	g, kept := c.Guarantee, reach.Follows(c.Target, stored)
	switch {
	case g.Persistence == driver.Memory:
	case kept == "" && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "it can't be checked on a broker that was not started here")
	case kept == driver.Memory, kept == driver.Log && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: "+string(g.Persistence), "the virtual host's store keeps messages to the degree %q; %s", kept, howToStore)
	case c.Topic.String("messageDurability") == "NEVER":
		return driver.Unsupported("topicConfig.messageDurability: NEVER", "persistence: %s asks for messages to be stored", g.Persistence)
	}
	if n := len(c.Target.Addresses); g.Replicas > n {
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "the group has %d node(s); every node has a copy", n)
	}
	if g.Ordering == driver.Ordered && c.Topic.String("messageGroupType") == "NONE" {
		return driver.Unsupported("topicConfig.messageGroupType: NONE", "a producer's messages keep their order over several consumers only as a group")
	}
	return nil
}

// exchanged reports whether a topic is an exchange: without a subscription, too, it is something that can be sent to.
func exchanged(t driver.Topology) bool { return len(t.Subscriptions) != 1 }

func queue(t driver.Topology, topic, subscription int) string {
	if !exchanged(t) {
		return t.Topics[topic].Name
	}
	return t.Topics[topic].Name + "." + t.Subscriptions[subscription]
}

// Declare creates the queues, and the exchange with its bindings.
func (n *nodes) Declare(ctx context.Context, l *amqp10.Link, t driver.Topology, topic int) error {
	m, err := manage(ctx, l)
	if err != nil {
		return err
	}
	defer m.Close()
	exchange := t.Topics[topic].Name
	if exchanged(t) {
		if err := m.create(ctx, exchangeType, exchange, map[string]any{"durable": true}); err != nil {
			return err
		}
	}
	for subscription := range t.Subscriptions {
		name := queue(t, topic, subscription)
		if err := m.create(ctx, queueType, name, n.attributes()); err != nil {
			return err
		}
		if exchanged(t) {
			if err := m.bind(ctx, exchange, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// attributes returns the queue's attributes that were asked for, by their native names.
func (n *nodes) attributes() map[string]any {
	a := driver.Changed(settings, n.config.Topic)
	delete(a, "type")
	a["durable"], a["qpid-type"] = true, n.config.Topic.String("type")
	grouped := n.config.Guarantee.Ordering == driver.Ordered || n.config.Client.String("GroupID") == "key" || n.config.Client.String("GroupID") == "producer"
	if a["messageGroupType"] == nil && grouped {
		a["messageGroupType"] = "STANDARD"
	}
	return a
}

// Remove deletes the queues with their messages, and the exchange.
func (n *nodes) Remove(ctx context.Context, l *amqp10.Link, t driver.Topology, topic int) error {
	m, err := manage(ctx, l)
	if err != nil {
		return err
	}
	defer m.Close()
	for subscription := range t.Subscriptions {
		if err := m.remove(ctx, queueType, queue(t, topic, subscription)); err != nil {
			return err
		}
	}
	if exchanged(t) {
		return m.remove(ctx, exchangeType, t.Topics[topic].Name)
	}
	return nil
}

// Target returns the queue, or the exchange.
func (n *nodes) Target(t driver.Topology, topic int) amqp10.Node {
	return amqp10.Node{Address: t.Topics[topic].Name}
}

// Source returns the subscription's queue.
func (n *nodes) Source(t driver.Topology, topic, subscription int) amqp10.Node {
	return amqp10.Node{Address: queue(t, topic, subscription)}
}
