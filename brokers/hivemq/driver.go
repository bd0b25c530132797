// Package hivemq drives and starts HiveMQ's community edition over MQTT. It knows nothing of the protocol's connections and
// sessions.
package hivemq

import (
	"fmt"

	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

var product = &mqtt.Product{
	Name:        "hivemq",
	Window:      "server.mqtt.receive-maximum.server-receive-maximum 1000, then the run's window",
	Once:        true,
	Shares:      true,
	SharedQueue: unshared,
	Supports:    supports,
	Maps:        natives,
	Server:      served,
	Fits:        fits,
}

// modeSetting is where the server keeps sessions and their messages.
const modeSetting = "persistence.mode"

var modeOf = map[driver.Persistence]string{driver.Memory: "in-memory", driver.Log: "file"}

func supports(g driver.Guarantee) error {
	switch {
	case g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "HiveMQ writes messages to files and leaves it to the operating system when they reach the disk")
	case g.Persistence == driver.Log && g.Delivery == driver.ExactlyOnce:
		return driver.Unsupported("persistence: log", "of what QoS 2 had released when the server was killed, HiveMQ sends some again: PUBREL leaves before it is written; ask for memory, or for at-least-once")
	case g.Persistence == driver.Log && g.Delivery == driver.AtMostOnce:
		return driver.Unsupported("persistence: log", "at-most-once is QoS 0, of which the server keeps nothing in files; ask for memory")
	case g.Replicas > 1:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "HiveMQ's community edition has no cluster")
	}
	return nil
}

// unshared implements mqtt.Product.
func unshared(g driver.Guarantee) string {
	switch {
	case g.Delivery == driver.ExactlyOnce:
		return "exactly-once is QoS 2, and HiveMQ grants a shared subscription QoS 1 at most"
	case g.Delivery == driver.AtMostOnce && g.Ordering == driver.Ordered:
		return "after HiveMQ stood still, it delivers some messages of QoS 0 out of order over a shared subscription, which breaks ordering: ordered"
	case g.Persistence == driver.Log:
		return "HiveMQ never redelivers what consumers of a shared subscription had in flight when it was killed, which breaks persistence: log"
	}
	return ""
}

// served has the server keep messages where they are asked for.
func served(g driver.Guarantee, asked map[string]any) (map[string]any, error) {
	return driver.Completed(asked, map[string]any{modeSetting: modeOf[g.Persistence]}), nil
}

func natives(g driver.Guarantee) []driver.Native {
	list := []driver.Native{{Side: driver.ServerSide, Name: modeSetting, Value: modeOf[g.Persistence]}}
	if unshared(g) != "" {
		list = append(list, driver.Native{Side: driver.TopicSide, Name: "shared", Value: "false"})
	}
	if g.Delivery == driver.AtMostOnce {
		return list
	}
	return append(list, driver.Native{Side: driver.ServerSide, Name: queueSetting, Value: defaults[queueSetting]})
}

// fits implements mqtt.Product.
func fits(c driver.Config, _ driver.Shape) error {
	mode := reach.Follows(c.Target, stored)
	switch {
	case c.Guarantee.Persistence != driver.Log || mode == "file":
		return nil
	case mode == "":
		return driver.Unsupported("persistence: log", "it can't be checked on a broker that was not started here; with persistence.mode: file it would be kept")
	}
	return driver.Unsupported("persistence: log", "the server keeps messages in memory; it needs %s: file", modeSetting)
}

// stored returns where a server with these settings keeps messages.
func stored(settings map[string]any) string {
	if mode, asked := settings[modeSetting]; asked {
		return provision.Text(mode)
	}
	return "file" // the server's default
}
