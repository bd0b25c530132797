// Package amqp10 drives brokers over AMQP 1.0 through go-amqp: connections, producers, consumers. It knows nothing of
// any product's addresses, queues or settings; those come as a Product.
package amqp10

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/brokers/internal/spans"
	"github.com/brokermark/brokermark/internal/driver"
)

// Product is what distinguishes a broker from others that speak the same protocol.
type Product struct {
	Name     string
	Hostname string           // the client setting whose value the open frame has, where the broker has virtual hosts
	Settings []driver.Setting // beside ClientSettings
	Silence  string           // when the broker grants no credit without a word (driver.Silent); empty: never
	// MostClients is the server setting beyond which it ends a connection instead of answering; empty: it says so.
	MostClients string
	Supports    func(driver.Guarantee) error
	Logins      []driver.Login // see driver.Kind
	Failover    bool           // see driver.Kind
	// Identity is the application property by which the broker recognises a message that is sent again, for exactly once.
	Identity string
	// QueueOrders is set where a queue that is asked for it keeps the order over several consumers, and groups mean nothing.
	QueueOrders bool
	// FirstAcquirer is set if only the header's first-acquirer marks a redelivered message: its delivery-count stays 0
	// after a lost connection.
	FirstAcquirer bool
	// Maps names the native settings of queues and server that a guarantee needs beside those of the protocol.
	Maps func(driver.Guarantee) []driver.Native
	// Server may be nil, see driver.Kind.
	Server func(driver.Guarantee, map[string]any) (map[string]any, error)
	// Fits refuses what the product can't keep beside what the protocol can't, see driver.Kind.
	Fits func(c driver.Config, s driver.Shape) error
	// Keeps may be nil, see driver.Kind.
	Keeps func(client, topic driver.Values, size int64) driver.Limit
	// Dialect reads the settings of one run, which fit.
	Dialect func(c driver.Config) Dialect
}

// Dialect is how a product maps topics and subscriptions to its addresses.
type Dialect interface {
	// Declare makes what a topic and its subscriptions need, and keeps what exists. It is called again on every new
	// connection: not everything survives a broker's restart.
	Declare(ctx context.Context, l *Link, t driver.Topology, topic int) error
	// Remove deletes what Declare made, with its messages.
	Remove(ctx context.Context, l *Link, t driver.Topology, topic int) error
	Target(t driver.Topology, topic int) Node
	Source(t driver.Topology, topic, subscription int) Node
}

// Gauge is a Dialect that can ask the broker about a subscription's queue.
type Gauge interface {
	Queue(ctx context.Context, l *Link, t driver.Topology, topic, subscription int) (driver.Queue, error)
}

// Node is an address with the capabilities that name its kind ("queue", "topic").
type Node struct {
	Address      string
	Capabilities []string
}

// What messages are grouped by; the brokers give all messages of a group to the same consumer as long as that exists.
const (
	groupAuto     = "auto"
	groupNone     = "none"
	groupKey      = "key"
	groupProducer = "producer"
)

// ClientSettings are the settings of every product, under go-amqp's names.
var ClientSettings = []driver.Setting{
	driver.ModeSetting("a batch goes out in few writes (write.buffer), reads bring up to 64 KiB, and no frame sets a deadline"),
	driver.AckSetting(),
	{Scope: driver.ClientScope, Name: "Credit", Class: driver.Prefetching, Default: int64(1000), Least: int64(1), Doc: "messages a consumer may hold that are not settled", Tries: []string{"100", "300", "5000"}},
	{Scope: driver.ClientScope, Name: "MaxFrameSize", Default: int64(65536), Least: int64(512), Most: int64(math.MaxUint32), Doc: "largest frame accepted from the broker, in bytes; at least 512"},
	{Scope: driver.ClientScope, Name: "IdleTimeout", Default: time.Minute, Doc: "silence of the broker after which the connection is given up"},
	{Scope: driver.ClientScope, Name: "GroupID", Default: groupAuto, Allowed: []string{groupAuto, groupNone, groupKey, groupProducer}, Doc: "group-id of messages: all of a group go to one consumer; auto: producer where ordered is asked for, else none"},
	{Scope: driver.ClientScope, Name: "write.buffer", Class: driver.Batching, Default: int64(64 << 10), Least: int64(0), Idle: driver.TunedOnly, Doc: "bytes gathered before a write to the socket, at most one batch; 0 is the client's one write per frame"},
}

// Kind returns the product's driver.
func Kind(p *Product) driver.Kind {
	return driver.Kind{
		Without:  map[driver.Class]string{driver.Acknowledging: "one by one", driver.Publishing: "the run's window", driver.Threading: "by the load"},
		Client:   "github.com/Azure/go-amqp",
		Settings: slices.Concat(ClientSettings, p.Settings),
		Supports: p.Supports,
		Fits:     func(c driver.Config, s driver.Shape) error { return fits(p, c, s) },
		Keeps:    p.Keeps, ServerKeeps: drops.By(p.Name),
		Logins:   p.Logins,
		Failover: p.Failover,
		Maps:     func(g driver.Guarantee) []driver.Native { return natives(p, g) },
		Server:   p.Server,
		Keyless:  keyless,
		Headers:  driver.Always,
		Open: func(ctx context.Context, c driver.Config) (driver.Driver, error) {
			d, err := open(ctx, p, c)
			if err != nil {
				return nil, err
			}
			if g, ok := d.dialect.(Gauge); ok {
				return gauged{d, g}, nil
			}
			return d, nil
		},
	}
}

func keyless(client driver.Values) string {
	if client.String("GroupID") == groupKey {
		return "" // several partitions don't fit
	}
	return "an address has no partitions, and a key goes nowhere without client.GroupID: key"
}

// session is the driver of one running broker.
type session struct {
	product   *Product
	config    driver.Config
	dialect   Dialect
	control   *Link // for Setup
	topology  driver.Topology
	durable   bool // messages are written down
	unsettled bool // the broker reports the outcome of a message to its sender
	accepts   bool // receivers accept a message after delivery
	once      bool // and drop one that may have been delivered before
	group     string
	identity  string // the property that identifies a message; empty: messages have none
	seen      spans.Deliveries
}

func open(ctx context.Context, p *Product, c driver.Config) (*session, error) {
	if c.Log == nil {
		c.Log = io.Discard
	}
	d := promised(p, c)
	d.dialect = p.Dialect(c)
	var err error
	if d.control, err = Dial(ctx, p, &d.config, 0); err != nil {
		return nil, driver.Explain(p.Name, c.Target.Addresses, c.Target, err)
	}
	return d, nil
}

// promised returns the session with the properties of messages and links that the guarantee requires.
func promised(p *Product, c driver.Config) *session {
	d := &session{
		product: p, config: c, group: c.Client.String("GroupID"),
		durable:   c.Guarantee.Persistence != driver.Memory,
		unsettled: c.Guarantee.Delivery != driver.AtMostOnce,
		accepts:   driver.AcksAfter(c.Guarantee, c.Client),
	}
	if c.Guarantee.Delivery == driver.ExactlyOnce {
		d.identity = p.Identity
	}
	d.once = d.accepts && c.Guarantee.Delivery == driver.AtMostOnce
	if d.group == groupAuto && c.Guarantee.Ordering == driver.Ordered && !p.QueueOrders {
		d.group = groupProducer
	}
	return d
}

// Setup declares every topic; it may be called again after the broker has restarted.
func (d *session) Setup(ctx context.Context, t driver.Topology) error {
	d.topology = t
	if err := fits(d.product, d.config, t.Shape()); err != nil {
		return err
	}
	if t.Existing {
		return nil
	}
	return d.each(ctx, d.dialect.Declare)
}

// Clean removes every topic.
func (d *session) Clean(ctx context.Context) error { return d.each(ctx, d.dialect.Remove) }

// gauged is a session whose product's queues can be asked for.
type gauged struct {
	*session
	gauge Gauge
}

func (d gauged) Queue(ctx context.Context, topic, subscription int) (driver.Queue, error) {
	stop, err := d.controlled(ctx)
	if err != nil {
		return driver.Queue{}, err
	}
	defer stop()
	return d.gauge.Queue(ctx, d.control, d.topology, topic, subscription)
}

// controlled makes sure that the control link lives. It is cut with ctx, until stop is called.
func (d *session) controlled(ctx context.Context) (stop func() bool, err error) {
	if d.control.dead() {
		d.control.Close()
		l, err := Dial(ctx, d.product, &d.config, 0)
		if err != nil {
			return nil, err
		}
		d.control = l
	}
	return context.AfterFunc(ctx, d.control.Cut), nil
}

func (d *session) each(ctx context.Context, do func(context.Context, *Link, driver.Topology, int) error) error {
	stop, err := d.controlled(ctx)
	if err != nil {
		return err
	}
	defer stop()
	for topic := range d.topology.Topics {
		if err := do(ctx, d.control, d.topology, topic); err != nil {
			return fmt.Errorf("topic %s: %w", d.topology.Topics[topic].Name, err)
		}
	}
	return nil
}

// Silence implements driver.Silent.
func (d *session) Silence() string { return d.product.Silence }

func (d *session) Close() error {
	d.control.Close()
	return nil
}

func (d *session) logf(format string, args ...any) {
	fmt.Fprintf(d.config.Log, d.product.Name+": "+format+"\n", args...)
}

// Describe implements driver.Describer: the properties of the open frame (AMQP 1.0, 2.7.1) have the server's name and
// version, and nothing of its settings.
func (d *session) Describe(context.Context) (driver.Description, error) {
	return driver.Announced(d.control.Conn.Properties()), nil
}
