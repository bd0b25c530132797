package rabbitmqstream

import (
	"cmp"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
)

// fits implements driver.Kind.Fits: it refuses settings out of range, and those that exclude each other.
func fits(c driver.Config, s driver.Shape) error {
	for name, most := range map[string]int64{"batch.size": 1 << 20, "sub.entry.size": 65535, "initial.credits": 30_000} {
		if n := c.Client.Int(name); n < 1 || n > most {
			return driver.Unsupported("client."+name, "%d is not from 1 to %d", n, most)
		}
	}
	subEntries := c.Client.Int("sub.entry.size")
	heartbeat, age := c.Client.Duration("heartbeat"), c.Topic.Duration("max-age")
	switch nodes := len(c.Target.Addresses); {
	case subEntries == 1 && c.Client.String("compression") != "none":
		return driver.Unsupported("client.compression", "the client compresses sub-entries; set sub.entry.size above 1")
	case subEntries > 1 && c.Guarantee.Delivery == driver.ExactlyOnce:
		return driver.Unsupported("client.sub.entry.size", "RabbitMQ knows duplicates by the entry and not by the message; exactly-once needs 1")
	case heartbeat < 3*time.Second || heartbeat%time.Second != 0:
		return driver.Unsupported("client.heartbeat", "%v is not a whole number of seconds, three at least", heartbeat)
	case age%time.Second != 0:
		return driver.Unsupported("topicConfig.max-age", "%v is not a whole number of seconds", age)
	case s.Topics > 0 && max(1, c.Guarantee.Replicas) < nodes:
		return everyNode(max(1, c.Guarantee.Replicas), nodes)
	}
	return cmp.Or(inFrame(c.Client, s.MaxBytes), ofSuperStream(c.Client, s.Partitions), versionAllows(c.Target.Version, s))
}

// inFrame refuses messages that don't fit in a frame.
func inFrame(client driver.Values, size int) error {
	if most := int(client.Int("frame.max")) - frameHead - overhead; size > most {
		return driver.Unsupported("client.frame.max", "a message has to fit in one frame, and %d bytes don't fit in %d", size, client.Int("frame.max"))
	}
	return nil
}

// ofSuperStream refuses settings that consumers of several partitions can't have: the client has no options for them there.
func ofSuperStream(client driver.Values, partitions int) error {
	for _, s := range settings {
		if partitions > 1 && (s.Name == "initial.credits" || s.Name == "crc.check") && client[s.Name] != s.Default {
			return driver.Unsupported("client."+s.Name, "the client has no such option for super streams; partitionsPerTopic is %d", partitions)
		}
	}
	return nil
}

// versionAllows refuses settings that a server of that version doesn't support; "" is an unknown version.
func versionAllows(version string, s driver.Shape) error {
	switch {
	case s.Partitions > 1 && reach.Before(version, 3, 13):
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions),
			"RabbitMQ %s has no super streams that a client can declare (since 3.13)", version)
	case s.Consumers > 1 && reach.Before(version, 3, 11):
		return driver.Unsupported(fmt.Sprintf("consumerPerSubscription: %d", s.Consumers),
			"RabbitMQ %s has no single active consumer for streams (since 3.11), without which each would get every message", version)
	}
	return nil
}
