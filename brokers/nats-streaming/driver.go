// Package natsstreaming drives NATS Streaming (STAN): a channel per topic, a durable queue group per subscription. It
// knows nothing of core NATS beyond its connections, and nothing of JetStream.
package natsstreaming

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nuid"
	"github.com/nats-io/stan.go"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

func driverKind() driver.Kind {
	return driver.Kind{
		Without: map[driver.Class]string{driver.Acknowledging: "one by one", driver.Threading: "by the load"},
		Client:  "github.com/nats-io/stan.go", Settings: settings, Supports: supports, Fits: fits, Maps: natives,
		Redelivers: func(_ driver.Guarantee, client driver.Values, _ map[string]any) (time.Duration, string) {
			return client.Duration("AckWait"), "client.AckWait"
		},
		Server: server, ServerKeeps: drops.By("nats-streaming"), Failover: true, Share: driver.TakeTurns, Attaching: attaching, Open: open, Keyless: driver.Never("a channel has neither partitions nor keys"),
	}
}

var settings = append([]driver.Setting{
	driver.OneMode(driver.Stock, "stan.go is used as its documentation does: PublishAsync with a handler, a callback that acknowledges each message"),
	{Scope: driver.ClientScope, Name: "ClusterID", Default: "test-cluster", Doc: "the server's cluster_id; the default is the server's own"},
	{Scope: driver.ClientScope, Name: "PubAckWait", Default: 5 * time.Second, Idle: unrepeated, Doc: "a message without an acknowledgement after this time is sent again (at-least-once)"},
	{Scope: driver.ClientScope, Name: "MaxPubAcksInflight", Class: driver.Publishing, Default: int64(stan.DefaultMaxPubAcksInflight), Idle: windowed, Doc: "at-most-once: messages of a producer that the server has not acknowledged; then publishing waits. at-least-once: inFlight.messages"},
	{Scope: driver.ClientScope, Name: "MaxInflight", Class: driver.Prefetching, Default: int64(stan.DefaultMaxInflight), Doc: "messages a consumer may hold unacknowledged", Tries: []string{"100", "10000"}},
	{Scope: driver.ClientScope, Name: "AckWait", Default: stan.DefaultAckWait, Doc: "a message not acknowledged by then is delivered again; in whole seconds"},
	{Scope: driver.ClientScope, Name: "Pings.Interval", Default: time.Duration(stan.DefaultPingInterval) * time.Second, Doc: "how often the client asks whether the server still knows it; in whole seconds"},
	{Scope: driver.ClientScope, Name: "Pings.MaxOut", Default: int64(stan.DefaultPingMaxOut), Doc: "unanswered pings after which the connection is lost, at least 2"},
	natsio.MonitorSetting(nil),
}, natsio.ConnectionSettings(-1)...)

func windowed(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Delivery != driver.AtMostOnce, "inFlight.messages is the window of what is acknowledged")
}

func unrepeated(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Delivery == driver.AtMostOnce, "at most once nothing is sent again")
}

func supports(g driver.Guarantee) error {
	once := g.Delivery == driver.AtMostOnce
	switch {
	case g.Delivery == driver.ExactlyOnce:
		return driver.Unsupported("delivery: exactly-once", "NATS Streaming does not recognise a message that is published again; jetstream does")
	case once && g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "at-most-once takes no notice of acknowledgements; ask for acks: none")
	case once && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "at-most-once is done with a message before the server has flushed it; ask for log")
	case !once && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "%s waits for the server's acknowledgement", g.Delivery)
	case g.Replicas > 1 && g.Acks == driver.AcksLeader:
		return driver.Unsupported("acks: leader", "a cluster acknowledges when a quorum has the message, never earlier")
	case g.Replicas > 1 && g.Ordering == driver.Ordered:
		return driver.Unsupported("ordering: ordered", "what the leader of a cluster takes along when it dies is sent again after what its successor has taken; ask for unordered")
	case g.Replicas > 1 && g.Persistence == driver.Memory:
		return driver.Unsupported("persistence: memory", "the nodes of a cluster keep files; ask for log")
	}
	return nil
}

// driving is the driver of one running server or cluster.
type driving struct {
	config        driver.Config
	dialer        *natsio.Dialer
	subjects      []string // by topic
	subscriptions []string
}

// fits implements driver.Kind.Fits.
func fits(c driver.Config, s driver.Shape) error {
	for _, name := range []string{"AckWait", "Pings.Interval"} {
		if v := c.Client.Duration(name); v < time.Second || v%time.Second != 0 {
			return driver.Unsupported("client."+name, "%v is not a whole number of seconds", v)
		}
	}
	for name, least := range map[string]int64{"MaxPubAcksInflight": 1, "MaxInflight": 1, "Pings.MaxOut": 2} {
		if n := c.Client.Int(name); n < least {
			return driver.Unsupported("client."+name, "%d is not at least %d", n, least)
		}
	}
	if v := c.Client.Duration("PubAckWait"); v <= 0 {
		return driver.Unsupported("client.PubAckWait", "%v is not longer than 0", v)
	}
	if s.Partitions > 1 {
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "a channel has no partitions; more topics are more channels")
	}
	if s.Topics == 0 {
		return nil
	}
	return cmp.Or(known(c), fitsSize(s.MaxBytes, natsio.Limit(c.Target)))
}

func open(_ context.Context, c driver.Config) (driver.Driver, error) {
	d := &driving{config: c, dialer: natsio.NewDialer(c)}
	l, err := d.dial(clientID("open"), 1)
	if err != nil {
		return nil, err
	}
	l.close()
	return d, nil
}

// clientID is one that no other client has: the server lets each in once.
func clientID(role string) string { return "brokermark-" + role + "-" + nuid.Next() }

// Setup makes the durable queue groups, which collect messages from now on, with or without consumers.
func (d *driving) Setup(ctx context.Context, t driver.Topology) error {
	if err := cmp.Or(fits(d.config, t.Shape()), d.kept(ctx)); err != nil {
		return err
	}
	var err error
	if d.subjects, err = natsio.Subjects(t.Topics); err != nil {
		return err
	}
	for _, name := range t.Subscriptions {
		if name == "" || strings.ContainsAny(name, ": \t\r\n") {
			return fmt.Errorf("subscription %q can't be a durable queue group: empty, or with a colon or white space", name)
		}
	}
	d.subscriptions = t.Subscriptions
	if t.Existing {
		return nil
	}
	return d.each("setup", func(s stan.Subscription) error { return s.Close() })
}

// Clean ends the queue groups. Channels can't be deleted; they go with the server.
func (d *driving) Clean(context.Context) error {
	return d.each("clean", func(s stan.Subscription) error { return s.Unsubscribe() })
}

// each joins every queue group for a moment, and leaves it by way of end.
func (d *driving) each(role string, end func(stan.Subscription) error) error {
	if len(d.subjects)*len(d.subscriptions) == 0 {
		return nil
	}
	l, err := d.dial(clientID(role), 1)
	if err != nil {
		return err
	}
	defer l.close()
	for _, subject := range d.subjects {
		for _, group := range d.subscriptions {
			sub, err := l.QueueSubscribe(subject, group, func(*stan.Msg) {}, stan.DurableName(group), stan.SetManualAckMode(), stan.MaxInflight(1))
			if err == nil {
				err = end(sub)
			}
			if err != nil {
				return fmt.Errorf("%s the queue group %s of %s: %w", role, group, subject, err)
			}
		}
	}
	return nil
}

// Close has nothing to release: every producer and consumer has its own connection.
func (d *driving) Close() error { return nil }
