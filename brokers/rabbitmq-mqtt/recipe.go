package rabbitmqmqtt

import (
	"context"
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/provision"
)

func recipe() *provision.Recipe {
	r := rabbitserver.Recipe(rabbitserver.Protocol{
		Plugin: "rabbitmq_mqtt", SinceFour: true,
		Ours:   []string{"mqtt.listeners", "mqtt.allow_anonymous"},
		Listen: listen,
		Ready:  ready,
	})
	r.MaxNodes, r.Plain = 1, ""
	return r
}

// prefetch is the most messages that the server leaves unacknowledged with a consumer, whatever that allows; its own is 10.
const prefetch = "mqtt.prefetch"

// listen opens the MQTT port only.
func listen(n *provision.Node) map[string]string {
	keys := map[string]string{"listeners.tcp": "none", "mqtt.listeners.tcp": "none"}
	if n.Cluster.TLS == nil {
		delete(keys, "mqtt.listeners.tcp")
		keys["mqtt.listeners.tcp.1"] = n.Address()
	} else {
		keys["mqtt.listeners.ssl.1"] = n.Address()
	}
	if n.Cluster.Settings[prefetch] == nil {
		keys[prefetch] = "1000"
	}
	return keys
}

// ready: the server tells an MQTT client nothing that only this instance has; but its log says that it has the port, which
// one process can have.
func ready(ctx context.Context, n *provision.Node) error {
	log, err := n.Log()
	if err != nil {
		return err
	}
	if address := n.Address(); !strings.Contains(string(log), "listener on "+address) {
		return fmt.Errorf("the server has not said that it listens on %s", address)
	}
	_, err = mqtt.Probe(ctx, product, n)
	return rabbitserver.Alarmed(n, err)
}
