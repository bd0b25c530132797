// Package mqtt drives brokers over MQTT 5 at QoS 0, 1 and 2, through paho.golang. It knows nothing of any product's persistence
// or settings; those come as a Product.
package mqtt

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/internal/driver"
)

// Product is what distinguishes a broker from others that speak the protocol.
type Product struct {
	Name   string
	Window string // what bounds the messages that a producer has under way
	// Once is set where the broker has QoS 2, Shares where it has shared subscriptions.
	Once, Shares bool
	// Silence is when the broker stops taking messages without a word, as a clause (driver.Silent); empty: only at QoS 0.
	Silence string
	// Version is the topic where the server publishes its version; empty: there is none.
	Version string
	// SharedQueue is set where a shared subscription has a queue of its own, which outlives its subscribers; elsewhere the
	// messages are in their sessions. It says, as a clause, why such a queue can't keep a guarantee, "" where it can.
	SharedQueue func(driver.Guarantee) string
	// Supports refuses what the broker can't keep beside what the protocol can't.
	Supports func(driver.Guarantee) error
	// Maps names the server's settings that a guarantee needs beside the protocol's.
	Maps func(driver.Guarantee) []driver.Native
	// WebSocket is the setting of the server by which the client port speaks MQTT over WebSocket; empty: there is none.
	WebSocket string
	// Server and Fits may be nil, see driver.Kind.
	Server func(driver.Guarantee, map[string]any) (map[string]any, error)
	Fits   func(c driver.Config, s driver.Shape) error
}

// Kind is the product's driver.
func Kind(p *Product) driver.Kind {
	return driver.Kind{
		Without: map[driver.Class]string{driver.Acknowledging: "one by one", driver.Publishing: p.Window, driver.Batching: "none", driver.Threading: "by the load"},
		Client:  "github.com/eclipse/paho.golang", Settings: settings(p),
		Supports:  func(g driver.Guarantee) error { return supports(p, g) },
		Fits:      func(c driver.Config, s driver.Shape) error { return fits(p, c, s) },
		Maps:      func(g driver.Guarantee) []driver.Native { return natives(p, g) },
		Attaching: p.attaching,
		Server:    p.Server, ServerKeeps: drops.By(p.Name),
		Headers: driver.Always,
		Keyless: driver.Never("an MQTT topic has neither partitions nor keys"),
		Share: func(g driver.Guarantee, topic driver.Values, consumers, partitions int) error {
			return share(p, g, topic, consumers, partitions)
		},
		Open:  func(ctx context.Context, c driver.Config) (driver.Driver, error) { return open(ctx, p, c) },
		Found: func(c driver.Config, s driver.Shape) error { return finds(p, c, s) }, Marks: ":/",
	}
}

func settings(p *Product) []driver.Setting {
	mode := "packets are gathered into few writes and read in few, and the driver keeps the session"
	if p.Once {
		mode += "; exactly-once has only this"
	}
	list := []driver.Setting{
		driver.ModeSetting(mode),
		{Scope: driver.ClientScope, Name: "ReceiveMaximum", Class: driver.Prefetching, Default: int64(1000), Idle: qos0, Doc: "messages a consumer may hold unacknowledged, 1 to 65535; the server may limit it too"},
		{Scope: driver.ClientScope, Name: "SessionExpiryInterval", Default: time.Hour, Idle: qos0, Doc: "how long the server keeps the messages of a consumer that is away, in whole seconds"},
		{Scope: driver.ClientScope, Name: "KeepAlive", Default: 10 * time.Second, Doc: "between pings, in whole seconds; a missing answer ends the connection"},
	}
	list = append(list, driver.Setting{Scope: driver.ClientScope, Name: overWebSocket, Default: "", Doc: "path of the WebSocket over which MQTT is spoken, such as /mqtt; empty: over TCP alone"})
	return append(list, sharingSettings(p)...)
}

func qos0(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Delivery == driver.AtMostOnce, "at QoS 0 nothing is acknowledged, and nothing kept for who is away")
}

// qos is the quality of service that a delivery guarantee is in MQTT.
var qos = map[driver.Delivery]byte{driver.AtMostOnce: 0, driver.AtLeastOnce: 1, driver.ExactlyOnce: 2}

// natives: the guarantee is in the quality of service, and in the session that the server keeps for a consumer.
func natives(p *Product, g driver.Guarantee) []driver.Native {
	return slices.Concat(protocol(g), p.Maps(g))
}

func protocol(g driver.Guarantee) []driver.Native {
	level := strconv.Itoa(int(qos[g.Delivery]))
	list := []driver.Native{{Side: driver.ProducerSide, Name: "QoS", Value: level}, {Side: driver.ConsumerSide, Name: "QoS", Value: level}}
	if g.Delivery == driver.AtMostOnce {
		return append(list, driver.Native{Side: driver.ConsumerSide, Name: "CleanStart", Value: "true"})
	}
	return append(list, driver.Native{Side: driver.ConsumerSide, Name: "CleanStart", Value: "false"},
		driver.Native{Side: driver.ProducerSide, Name: "CleanStart", Value: "false"})
}

func supports(p *Product, g driver.Guarantee) error {
	once := g.Delivery == driver.AtMostOnce
	switch {
	case g.Delivery == driver.ExactlyOnce && !p.Once:
		return driver.Unsupported("delivery: exactly-once", "%s has no QoS 2: it grants QoS 1", p.Name)
	case once && g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "nobody acknowledges QoS 0; use none")
	case !once && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "%s is QoS %d, which is acknowledged", g.Delivery, qos[g.Delivery])
	}
	return p.Supports(g)
}

// driving is the driver of one running server.
type driving struct {
	product       *Product
	config        driver.Config
	qos           byte
	topics        []string
	subscriptions []string

	mu    sync.Mutex
	ids   map[string]*identifiers // of the sessions that the server keeps, by client; nil where none has consumed
	seats map[driver.Seat]*link   // of the consumers at work; nil while they connect

	restoring chan struct{} // held while restoring; a lock that is not waited for longer than a context lasts
}

// fits implements driver.Kind.Fits.
func fits(p *Product, c driver.Config, s driver.Shape) error {
	switch n := c.Client.Int("ReceiveMaximum"); {
	case n < 1 || n > 65535:
		return driver.Unsupported("client.ReceiveMaximum", "%d is not between 1 and 65535", n)
	case c.Guarantee.Delivery == driver.ExactlyOnce && driver.UsesStock(c.Client):
		return driver.Unsupported("client.mode: stock", "of what a lost connection left open, the client's own session tells nobody how far QoS 2 had come with it; use tuned")
	case s.Partitions > 1:
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "an MQTT topic has no partitions; use more topics")
	case s.InFlight >= subscribeID && qos[c.Guarantee.Delivery] > 0:
		return driver.Unsupported(fmt.Sprintf("inFlight.messages: %d", s.InFlight), "MQTT has %d packet identifiers", subscribeID-1)
	}
	if why := unshared(p, c.Guarantee); why != "" && shared(p, c.Guarantee, c.Topic) {
		return driver.Unsupported("topicConfig.shared: true", "%s; use auto or false", why)
	}
	for name, most := range map[string]time.Duration{"KeepAlive": 65535 * time.Second, "SessionExpiryInterval": 1 << 31 * time.Second} {
		if v := c.Client.Duration(name); v%time.Second != 0 || v > most {
			return driver.Unsupported("client."+name, "%v is not a whole number of seconds up to %v", v, most)
		}
	}
	if err := fitsWebSocket(p, c); err != nil || p.Fits == nil {
		return err
	}
	return p.Fits(c, s)
}

func open(ctx context.Context, p *Product, c driver.Config) (driver.Driver, error) {
	d := &driving{product: p, config: c, qos: qos[c.Guarantee.Delivery], ids: map[string]*identifiers{}, seats: map[driver.Seat]*link{}, restoring: make(chan struct{}, 1)}
	probe, err := d.dial(ctx, station{clean: true}) // the server picks an id
	if err != nil {
		return nil, driver.Explain(p.Name, c.Target.Addresses[:min(1, len(c.Target.Addresses))], c.Target, err)
	}
	probe.close(true)
	if p.Version != "" {
		return telling{d}, nil
	}
	return d, nil
}

// Setup makes the session of each subscription's first consumer, which collects what comes before that connects. At
// QoS 0 there is nothing to make: nobody collects.
func (d *driving) Setup(ctx context.Context, t driver.Topology) error {
	for _, name := range t.Subscriptions {
		if name == "" || strings.ContainsAny(name, "/+#\x00") {
			return fmt.Errorf("subscription %q can't be the name of a shared one: empty, or with / + #", name)
		}
	}
	if err := fits(d.product, d.config, t.Shape()); err != nil {
		return err
	}
	d.subscriptions = t.Subscriptions
	for i, topic := range t.Topics {
		if err := publishable(topic.Name); err != nil {
			return err
		}
		d.topics = append(d.topics, topic.Name)
		for s := range t.Subscriptions {
			if t.Existing {
				break
			}
			if err := d.begin(ctx, driver.ConsumerConfig{Topic: i, Subscription: s}, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func publishable(topic string) error {
	if topic == "" || strings.ContainsAny(topic, "+#\x00") || topic[0] == '$' {
		return fmt.Errorf("topic %q can't be published to: empty, with + or #, or with $ in front", topic)
	}
	return nil
}

// finds implements driver.Kind.Found: a topic is there while somebody uses it.
func finds(p *Product, c driver.Config, s driver.Shape) error {
	if err := publishable(s.Topic); err != nil {
		return driver.Unsupported("topicName: "+s.Topic, "%v", err)
	}
	switch {
	case s.Past:
		return driver.Unsupported("read.from: start", "a broker keeps MQTT messages for who has subscribed before, and one that is retained")
	case strings.Contains(s.Prefix, "/"):
		return driver.Unsupported("topicPrefix: "+s.Prefix, "with topic it begins the names of subscriptions, which have no /")
	case p.SharedQueue != nil && shared(p, c.Guarantee, c.Topic) && qos[c.Guarantee.Delivery] > 0:
		return driver.Unsupported("topicName: "+s.Topic, "the queue of a shared subscription outlives its subscribers, and it takes a message to the topic to empty it")
	}
	return nil
}

func (d *driving) begin(ctx context.Context, c driver.ConsumerConfig, clean bool) error {
	if d.qos == 0 {
		return nil
	}
	l, err := d.dial(ctx, station{id: d.clientID(c), clean: clean, keep: true})
	if err != nil {
		return err
	}
	defer l.close(false)
	return d.subscribe(ctx, l, c)
}

// clientID names the consumer's session on the server.
func (d *driving) clientID(c driver.ConsumerConfig) string {
	id := fmt.Sprintf("%s.%s.%d", d.topics[c.Topic], d.subscriptions[c.Subscription], c.ID)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, noted := d.ids[id]; !noted {
		d.ids[id] = nil // for Clean
	}
	return id
}

func (d *driving) subscribe(ctx context.Context, l *link, c driver.ConsumerConfig) error {
	l.subscribing.Lock()
	defer l.subscribing.Unlock()
	filter := d.filter(c)
	both := []paho.SubscribeOptions{{Topic: filter, QoS: d.qos}}
	if d.qos > 0 {
		both = append(both, paho.SubscribeOptions{Topic: d.presence(c)})
	}
	ack, err := l.Subscribe(ctx, &paho.Subscribe{Subscriptions: both})
	if err != nil && ack != nil && ack.Reasons[0] >= packets.SubackUnspecifiederror {
		return fmt.Errorf("subscribe to %s: the server refused it, reason %#x: %w", filter, ack.Reasons[0], err)
	}
	if err != nil && ack == nil {
		return fmt.Errorf("subscribe to %s: %w", filter, err)
	}
	if granted := ack.Reasons[0]; granted != d.qos {
		return driver.Unsupported("delivery: "+string(d.config.Guarantee.Delivery), "the server granted QoS %d for %s", granted, filter)
	}
	return nil
}

// Silence implements driver.Silent.
func (d *driving) Silence() string {
	if d.product.Silence == "" && d.qos == 0 {
		return "at QoS 0 a server drops what a user may not publish, and says so to nobody but its log"
	}
	return d.product.Silence
}

// Close has nothing to release: every producer and consumer has its own connection.
func (d *driving) Close() error { return nil }
