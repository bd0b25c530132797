package mqtt

import (
	"context"
	"strconv"
	"time"

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
	// MostClients is the server setting beyond which it ends a connection instead of answering; empty: it says so.
	MostClients string
	// Version is the topic where the server publishes its version; empty: there is none.
	Version string
	// SharedQueue is set where a shared subscription has a queue of its own, which outlives its subscribers; elsewhere the
	// messages are in their sessions. It returns a clause that says why such a queue can't keep a guarantee, or "".
	SharedQueue func(driver.Guarantee) string
	// Supports refuses what the broker can't keep beside what the protocol can't.
	Supports func(driver.Guarantee) error
	// Maps names the server's settings that a guarantee needs beside the protocol's.
	Maps func(driver.Guarantee) []driver.Native
	// WebSocket is the server's setting with which the client port speaks MQTT over WebSocket; empty if it has none.
	WebSocket string
	// Server and Fits may be nil, see driver.Kind.
	Server func(driver.Guarantee, map[string]any) (map[string]any, error)
	Fits   func(c driver.Config, s driver.Shape) error
}

// Kind returns the product's driver.
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
		{Scope: driver.ClientScope, Name: "ReceiveMaximum", Class: driver.Prefetching, Default: int64(1000), Idle: qos0, Doc: "messages a consumer may hold unacknowledged, 1 to 65535; the server may limit it too", Tries: []string{"100", "10000"}},
		{Scope: driver.ClientScope, Name: "SessionExpiryInterval", Default: time.Hour, Idle: qos0, Doc: "how long the server keeps the messages of a consumer that is away, in whole seconds"},
		{Scope: driver.ClientScope, Name: "KeepAlive", Default: 10 * time.Second, Doc: "between pings, in whole seconds; a missing answer ends the connection"},
		{Scope: driver.ClientScope, Name: overWebSocket, Default: "", Doc: "path of the WebSocket over which MQTT is spoken, such as /mqtt; empty: over TCP alone"},
	}
	return append(list, sharingSettings(p)...)
}

func qos0(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Delivery == driver.AtMostOnce, "at QoS 0 nothing is acknowledged, and nothing kept for absent subscribers")
}

// qos is the quality of service that a delivery guarantee is in MQTT.
var qos = map[driver.Delivery]byte{driver.AtMostOnce: 0, driver.AtLeastOnce: 1, driver.ExactlyOnce: 2}

// natives returns the quality of service and the kept session, which make the guarantee, and the product's own settings.
func natives(p *Product, g driver.Guarantee) []driver.Native {
	level := strconv.Itoa(int(qos[g.Delivery]))
	list := []driver.Native{{Side: driver.ProducerSide, Name: "QoS", Value: level}, {Side: driver.ConsumerSide, Name: "QoS", Value: level}}
	if g.Delivery == driver.AtMostOnce {
		list = append(list, driver.Native{Side: driver.ConsumerSide, Name: "CleanStart", Value: "true"})
	} else {
		list = append(list, driver.Native{Side: driver.ConsumerSide, Name: "CleanStart", Value: "false"},
			driver.Native{Side: driver.ProducerSide, Name: "CleanStart", Value: "false"})
	}
	return append(list, p.Maps(g)...)
}

func supports(p *Product, g driver.Guarantee) error {
	once := g.Delivery == driver.AtMostOnce
	switch {
	case g.Delivery == driver.ExactlyOnce && !p.Once:
		return driver.Unsupported("delivery: exactly-once", "%s has no QoS 2: it grants QoS 1", p.Name)
	case once && g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "QoS 0 has no acknowledgements; use none")
	case !once && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "%s is QoS %d, which is acknowledged", g.Delivery, qos[g.Delivery])
	}
	return p.Supports(g)
}
