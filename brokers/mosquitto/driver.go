// Package mosquitto drives and starts Mosquitto over MQTT. It knows nothing of the protocol's connections and sessions.
package mosquitto

import (
	"fmt"

	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/internal/driver"
)

var product = &mqtt.Product{
	Name:    "mosquitto",
	Window:  "server.max_inflight_messages 1000, then the run's window",
	Once:    true,
	Shares:  true,
	Version: "$SYS/broker/version",

	MostClients: "max_connections",
	Supports:    supports,
	Maps:        natives,

	WebSocket: protocol,
}

func supports(g driver.Guarantee) error {
	switch {
	case g.Persistence != driver.Memory:
		return driver.Unsupported("persistence: "+string(g.Persistence), "Mosquitto writes its database at intervals and when it ends, never before it acknowledges")
	case g.Replicas > 1:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "Mosquitto has no cluster")
	}
	return nil
}

func natives(g driver.Guarantee) []driver.Native {
	if g.Delivery == driver.AtMostOnce {
		return nil
	}
	return []driver.Native{{Side: driver.ServerSide, Name: "max_queued_messages", Value: "0"}}
}
