// Package rabbitmq drives and starts RabbitMQ: AMQP 0-9-1 through amqp091-go, classic and quorum queues. It knows
// nothing of time stamps, histograms or phases.
package rabbitmq

import (
	"context"
	"net/http"
	"sync"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/brokers/internal/oauth"
	"github.com/brokermark/brokermark/internal/driver"
)

func driverKind() driver.Kind {
	return driver.Kind{
		Without:  map[driver.Class]string{driver.Publishing: "the run's window", driver.Threading: "stock: by the load; tuned: half of the cores, where one producer and one consumer are all"},
		Client:   "github.com/rabbitmq/amqp091-go",
		Settings: settings,
		Procs:    1, // every message passes through three goroutines of the client: two threads cost 13 instead of 9 CPU-s per million
		Supports: supports,
		Fits:     fits,
		Maps:     natives,
		Pasted:   pasted,
		Keeps:    keeps, ServerKeeps: drops.By("rabbitmq"),
		Logins:   []driver.Login{driver.ByCertificate, driver.ByToken, driver.ByOAuth},
		Headers:  driver.Always,
		Failover: true,
		Shared:   true,
		Watched:  watched,
		Open:     open,
		Found:    finds, Marks: ":/",
	}
}

// rabbit is the driver of one running broker or cluster.
type rabbit struct {
	cfg     driver.Config
	tokens  *oauth.Source
	control *link // for Setup
	quorum  bool  // queues are quorum queues
	durable bool  // queues and messages are durable
	confirm bool  // publishes wait for the broker's confirm
	autoAck bool  // consumers don't acknowledge
	once    bool  // redeliveries are dropped
	topo    driver.Topology
	web     *http.Client // for the management interface

	trunksMu sync.Mutex
	trunks   map[string]*trunk // shared connections, by group of users
}

// supports refuses guarantees that no queue of RabbitMQ can give.
func supports(g driver.Guarantee) error {
	switch {
	case g.Delivery == driver.ExactlyOnce:
		return driver.Unsupported("delivery: exactly-once", "RabbitMQ redelivers what was not acknowledged and knows no duplicates")
	case g.Delivery == driver.AtLeastOnce && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "at-least-once needs the publisher confirm")
	case g.Acks == driver.AcksNone && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync with acks: none", "no confirm is asked for, so nothing waits for the disk")
	case g.Replicas > 1 && g.Acks == driver.AcksLeader:
		return driver.Unsupported("acks: leader", "a quorum queue confirms when a majority has the message, never earlier; use quorum")
	}
	return nil
}

// open connects and derives the properties of queues, messages and consumers from the guarantee.
func open(ctx context.Context, c driver.Config) (driver.Driver, error) {
	if c.Log != nil {
		clientLog.to.Store(&c.Log)
	}
	d := settled(c)
	var err error
	if d.control, err = d.dial(ctx, 0); err != nil {
		return nil, driver.Explain("rabbitmq", c.Target.Addresses, d.cfg.Target, err)
	}
	if err := agrees(d.config(nil), d.control.conn.Config); err != nil {
		d.control.close()
		return nil, err
	}
	return d, nil
}

// dialer is a driver that can dial.
func dialer(c driver.Config) *rabbit {
	c.Target = guest(c.Target)
	return &rabbit{cfg: c, tokens: oauth.NewSource(c.Target)}
}

// settled makes a driver with the properties of queues, messages and consumers that the guarantee requires.
func settled(c driver.Config) *rabbit {
	g, d := c.Guarantee, dialer(c)
	d.trunks = map[string]*trunk{}
	d.quorum = quorum(g, c.Topic)
	d.durable = g.Persistence != driver.Memory
	d.confirm = g.Acks != driver.AcksNone
	d.autoAck = !driver.AcksAfter(g, c.Client)
	d.once = g.Delivery == driver.AtMostOnce
	d.web = &http.Client{Transport: &http.Transport{}}
	return d
}

func quorum(g driver.Guarantee, topic driver.Values) bool {
	kind := topic.String("x-queue-type")
	return kind == "quorum" || kind == "auto" && needsQuorum(g)
}

func needsQuorum(g driver.Guarantee) bool { return g.Persistence == driver.Fsync || g.Replicas > 1 }

func (d *rabbit) Close() error {
	d.control.close()
	d.web.CloseIdleConnections()
	return nil
}

// Describe implements driver.Describer: an AMQP 0-9-1 server sends its name and version when a connection begins, but no settings.
func (d *rabbit) Describe(context.Context) (driver.Description, error) {
	return driver.Announced(d.control.conn.Properties), nil
}
