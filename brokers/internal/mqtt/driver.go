// Package mqtt drives brokers over MQTT 5 at QoS 0, 1 and 2, through paho.golang. It knows nothing of any product's persistence
// or settings; those come as a Product.
package mqtt

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"github.com/brokermark/brokermark/internal/driver"
)

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
		return driver.Unsupported("client.mode: stock", "after a lost connection the client's own session doesn't report how far QoS 2 had come with open messages; use tuned")
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

// Setup creates the session of each subscription's first consumer, to collect messages that come before it connects. At QoS
// 0 it creates nothing, since sessions keep no such messages.
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

// finds implements driver.Kind.Found: a topic exists while it is used.
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
		return "at QoS 0 a server drops what a user may not publish, and says so only in its log"
	}
	return d.product.Silence
}

// Close has nothing to release: every producer and consumer has its own connection.
func (d *driving) Close() error { return nil }
