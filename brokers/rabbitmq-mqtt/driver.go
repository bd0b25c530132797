// Package rabbitmqmqtt drives and starts RabbitMQ over MQTT, by its plugin rabbitmq_mqtt. It knows nothing of the protocol's
// connections and sessions.
package rabbitmqmqtt

import (
	"fmt"

	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
)

var product = &mqtt.Product{
	Name:     "rabbitmq-mqtt",
	Window:   "the run's window",
	Silence:  rabbitserver.Silence,
	Supports: supports,
	Maps:     natives,
	Server:   served,
	Fits:     fits,
}

// queueType is the server's setting for the queues of sessions that outlive their connections.
const queueType = "mqtt.durable_queue_type"

func supports(g driver.Guarantee) error {
	once := g.Delivery == driver.AtMostOnce
	switch {
	case once && g.Persistence != driver.Memory:
		return driver.Unsupported("persistence: "+string(g.Persistence), "at-most-once is QoS 0, of which the server keeps nothing on a disk; ask for memory")
	case !once && g.Persistence == driver.Memory:
		return driver.Unsupported("persistence: memory", "messages of QoS 1 are written down, since their sessions have durable queues; ask for log")
	case g.Replicas > 1:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "an MQTT client here stays with one node; broker rabbitmq has replicated queues")
	}
	return nil
}

// served has sessions get quorum queues where messages are to be flushed.
func served(g driver.Guarantee, asked map[string]any) (map[string]any, error) {
	if g.Persistence != driver.Fsync {
		return asked, nil
	}
	return driver.Completed(asked, map[string]any{queueType: "quorum"}), nil
}

func natives(g driver.Guarantee) []driver.Native {
	switch g.Persistence {
	case driver.Fsync:
		return []driver.Native{{Side: driver.ServerSide, Name: queueType, Value: "quorum"}}
	case driver.Log:
		return []driver.Native{{Side: driver.ServerSide, Name: queueType, Value: "classic"}}
	}
	return nil
}

// fits implements mqtt.Product.
func fits(c driver.Config, _ driver.Shape) error {
	kind := reach.Follows(c.Target, queues)
	const setting = "persistence: fsync"
	switch {
	case c.Guarantee.Persistence != driver.Fsync || kind == "quorum":
		return nil
	case kind == "":
		return driver.Unsupported(setting, "it can't be checked on a broker that was not started here; with %s: quorum it would be kept", queueType)
	}
	return driver.Unsupported(setting, "a classic queue of RabbitMQ 4 confirms what it has handed to the operating system; %s has to be quorum", queueType)
}

// queues is the type of the queues that a server of those settings gives to sessions.
func queues(server map[string]any) string {
	if kind, asked := server[queueType]; asked {
		return fmt.Sprint(kind)
	}
	return "classic"
}
