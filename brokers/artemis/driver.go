// Package artemis drives and starts Apache ActiveMQ Artemis: AMQP 1.0 through go-amqp, queues made through the
// broker's management address. It knows nothing of the protocol's connections and links.
package artemis

import (
	"context"
	"fmt"
	"strconv"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

var product = &amqp10.Product{
	Name:     "artemis",
	Silence:  "Artemis gives producers no credit, and does not say why, while an address is full (address-full-policy: BLOCK) or the disk fuller than max-disk-usage",
	Settings: settings,
	Supports: supports,

	MostClients: "acceptor.connectionsAllowed",
	Maps:        natives,
	Failover:    true,
	Identity:    "_AMQ_DUPL_ID",
	Fits:        fits,
	Keeps:       keeps,
	Dialect:     func(c driver.Config) amqp10.Dialect { return &addresses{config: c} },
}

// usualIdentities is the server's own id-cache-size.
const usualIdentities = "20000"

// unset leaves an attribute out of the queue, so that the server's own default holds.
const unset = int64(-1)

var settings = []driver.Setting{
	{Scope: driver.TopicScope, Name: "routing-type", Default: "auto", Allowed: []string{"auto", "anycast", "multicast"}, Doc: "auto: anycast for one subscription, multicast with a queue each for several"},
	{Scope: driver.TopicScope, Name: "exclusive", Default: false, Doc: "only one consumer of a queue gets messages, the others stand by"},
	{Scope: driver.TopicScope, Name: "last-value", Default: false, Doc: "a queue keeps only the newest message of each last-value-key"},
	{Scope: driver.TopicScope, Name: "last-value-key", Default: "", Doc: "the property that last-value goes by; empty: _AMQ_LVQ_NAME"},
	{Scope: driver.TopicScope, Name: "non-destructive", Default: false, Doc: "consuming leaves messages in the queue"},
	{Scope: driver.TopicScope, Name: "purge-on-no-consumers", Default: false, Doc: "a queue is emptied when its last consumer goes"},
	{Scope: driver.TopicScope, Name: "max-consumers", Default: unset, Doc: "consumers a queue admits; -1: no limit"},
	{Scope: driver.TopicScope, Name: "consumers-before-dispatch", Default: unset, Doc: "consumers to wait for before a queue delivers; -1: none"},
	{Scope: driver.TopicScope, Name: "delay-before-dispatch", Default: unset, Doc: "milliseconds to wait for those consumers; -1: for ever"},
	{Scope: driver.TopicScope, Name: "ring-size", Default: unset, Doc: "messages a queue keeps, the newest ones; -1: no limit"},
	{Scope: driver.TopicScope, Name: "group-rebalance", Default: false, Doc: "message groups are shared out anew when a consumer comes"},
	{Scope: driver.TopicScope, Name: "group-buckets", Default: unset, Doc: "groups are hashed to so many; -1: every group by itself"},
}

// keeps implements driver.Kind.Keeps: a ring drops the oldest message for each one beyond its size.
func keeps(_, topic driver.Values, _ int64) driver.Limit {
	return driver.Fullest(topic, 0, map[string]int64{"ring-size": 1})
}

// supports refuses what no queue of Artemis can promise.
func supports(g driver.Guarantee) error {
	switch {
	case g.Replicas > 2:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "a primary replicates to one backup; use 2")
	case g.Replicas > 1 && g.Acks == driver.AcksLeader:
		return driver.Unsupported("acks: leader", "a primary answers when its backup has the message too, never earlier; use quorum")
	case g.Replicas > 1 && g.Persistence == driver.Memory:
		return driver.Unsupported("persistence: memory", "only the journal is replicated; use log")
	case g.Replicas > 1 && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "the backup answers when it has written the message, it doesn't flush it; use log")
	}
	if g.Delivery == driver.ExactlyOnce && g.Acks != driver.AcksNone {
		g.Delivery = driver.AtLeastOnce // with identities, which the broker and the driver remember
	}
	return amqp10.Supports(g)
}

// addresses maps a topic to an address: with one queue of the same name, or a queue for each subscription.
type addresses struct {
	config   driver.Config
	replicas bool // seen in step, by Setup: while one of them is down the other one must go on
}

// fits implements amqp10.Product.
func fits(c driver.Config, s driver.Shape) error {
	kept := reach.Follows(c.Target, stored)
	switch want := c.Guarantee.Persistence; {
	case want == driver.Fsync && kept == "":
		return driver.Unsupported("persistence: fsync", "it can't be checked on a broker that was not started here; its default, journal-datasync, would keep it")
	case want == driver.Fsync && kept != driver.Fsync:
		return driver.Unsupported("persistence: fsync", "it needs the server settings journal-datasync, journal-sync-non-transactional and persistence-enabled, all on by default")
	case want == driver.Log && kept == driver.Memory:
		return driver.Unsupported("persistence: log", "it needs the server settings journal-sync-non-transactional and persistence-enabled, both on by default")
	}
	if err := remembers(c, s); err != nil {
		return err
	}
	if c.Guarantee.Delivery == driver.AtMostOnce && driver.AcksAfter(c.Guarantee, c.Client) {
		return driver.Unsupported("client.consumer.ack: "+driver.AckAfter,
			"a message whose connection is cut may come again with a delivery-count of 0, and nothing shows that it was delivered before; at most once needs %s", driver.AckBefore)
	}
	if c.Topic.String("routing-type") == "anycast" && s.Subscriptions > 1 {
		return driver.Unsupported("topicConfig.routing-type: anycast", "it gives a message to one queue; there are %d subscriptions", s.Subscriptions)
	}
	return nil
}

// remembers refuses exactly-once if the broker would forget identities or ignore them.
func remembers(c driver.Config, s driver.Shape) error {
	if c.Guarantee.Delivery != driver.ExactlyOnce || c.Target.Server == nil {
		return nil
	}
	given := func(name, usual string) string {
		if value := c.Target.Server[name]; value != nil {
			return provision.Text(value)
		}
		return usual
	}
	for _, name := range []string{"acceptor.amqpDuplicateDetection", "persist-id-cache", "journal-sync-transactional"} {
		if given(name, "true") != "true" {
			return driver.Unsupported("delivery: exactly-once", "it needs the server setting %s, on by default: a message and its identity are stored in one transaction", name)
		}
	}
	size, err := strconv.Atoi(given("id-cache-size", usualIdentities))
	if open := s.InFlight * max(1, s.Producers); err != nil || size < open {
		return driver.Unsupported("delivery: exactly-once",
			"%d messages may be in flight, and the broker remembers the last %s of an address; raise server.id-cache-size, or lower inFlight.messages", open, given("id-cache-size", usualIdentities))
	}
	return nil
}

func (a *addresses) multicast(t driver.Topology) bool {
	asked := a.config.Topic.String("routing-type")
	return asked == "multicast" || asked == "auto" && len(t.Subscriptions) > 1
}

func (a *addresses) queue(t driver.Topology, topic, subscription int) string {
	name := t.Topics[topic].Name
	if !a.multicast(t) {
		return name
	}
	return name + "." + t.Subscriptions[subscription]
}

// Declare creates the queues, and the address with them.
func (a *addresses) Declare(ctx context.Context, l *amqp10.Link, t driver.Topology, topic int) error {
	m, err := manage(ctx, l)
	if err != nil {
		return err
	}
	defer m.Close()
	if n := a.config.Guarantee.Replicas; n > 1 && !a.replicas {
		if err := m.attribute(ctx, theBroker, "ReplicaSync", &a.replicas); err != nil {
			return err
		}
		if !a.replicas {
			return driver.Unsupported(fmt.Sprintf("replicas: %d", n), "this broker has no backup that is in step with it; nodes: 2 starts one")
		}
	}
	for subscription := range t.Subscriptions {
		if err := m.invoke(ctx, "createQueue", a.definition(t, topic, subscription), true); err != nil {
			return err
		}
	}
	return nil
}

// definition returns the queue as the management operation createQueue expects it.
func (a *addresses) definition(t driver.Topology, topic, subscription int) string {
	def := driver.Completed(driver.Changed(settings, a.config.Topic), map[string]any{
		"name": a.queue(t, topic, subscription), "address": t.Topics[topic].Name, "durable": true, "auto-create-address": true, "auto-delete": false,
	})
	def["routing-type"] = "ANYCAST"
	if a.multicast(t) {
		def["routing-type"] = "MULTICAST"
	}
	return jsonText(def)
}

// Remove destroys the queues, with their messages and consumers, and then the address.
func (a *addresses) Remove(ctx context.Context, l *amqp10.Link, t driver.Topology, topic int) error {
	m, err := manage(ctx, l)
	if err != nil {
		return err
	}
	defer m.Close()
	for subscription := range t.Subscriptions {
		if err := m.invoke(ctx, "destroyQueue", a.queue(t, topic, subscription), true); err != nil {
			return err
		}
	}
	return m.invoke(ctx, "deleteAddress", t.Topics[topic].Name, true)
}

// Queue implements amqp10.Gauge. The broker's count of deliveries leaves out redeliveries.
func (a *addresses) Queue(ctx context.Context, l *amqp10.Link, t driver.Topology, topic, subscription int) (driver.Queue, error) {
	q := driver.Queue{Delivered: driver.Unknown}
	m, err := manage(ctx, l)
	if err != nil {
		return q, err
	}
	defer m.Close()
	var held int64 // those that consumers were given among them
	for name, count := range map[string]*int64{"MessageCount": &held, "DeliveringCount": &q.Unacked, "MessagesAdded": &q.Published} {
		if err := m.attribute(ctx, aQueue+a.queue(t, topic, subscription), name, count); err != nil {
			return q, err
		}
	}
	q.Waiting = max(0, held-q.Unacked)
	return q, nil
}

// Target returns the address; the capability keeps the client's messages from being routed the other way.
func (a *addresses) Target(t driver.Topology, topic int) amqp10.Node {
	kind := "queue"
	if a.multicast(t) {
		kind = "topic"
	}
	return amqp10.Node{Address: t.Topics[topic].Name, Capabilities: []string{kind}}
}

// Source returns the queue by its fully qualified name: attaching to it never makes another one.
func (a *addresses) Source(t driver.Topology, topic, subscription int) amqp10.Node {
	return amqp10.Node{Address: t.Topics[topic].Name + "::" + a.queue(t, topic, subscription)}
}
