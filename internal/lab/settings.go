package lab

// A spec gives settings as text or YAML values. This file turns them into the types that drivers and recipes take: "5ms" for example
// into a time.Duration of 5 ms.

import (
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// driverConfig returns the spec's settings as the driver takes them; how the broker is reached is left to the caller. It notes in the
// record the settings, defaults included, and the versions, and in the bench (one repetition under way) the limit of the queues. It
// refuses the point if the driver can't keep its guarantee.
func (b *bench) driverConfig(kind driver.Kind) (driver.Config, error) {
	c, err := decoded(kind, b.spec)
	if err != nil {
		return c, err
	}
	c.Log = b.lab.options.Log
	server, err := serverSettings(b.spec)
	if err != nil {
		return c, err
	}
	b.record.Settings = store.Settings{Server: server, Client: readable(c.Client), Topic: readable(c.Topic)}
	b.record.Versions.Client = moduleVersion(kind.Client)
	b.record.Versions.Broker = b.spec.Version // until the broker has been started
	b.record.Failover = kind.Failover
	b.limit = queueLimit(kind, b.spec, c)
	return c, supported(kind, b.spec, c)
}

// queueLimit returns the limit on what the broker's queues keep, by the settings of client, topic and server; the zero value if there is
// none. A limit in bytes becomes one in messages of the mean size.
func queueLimit(kind driver.Kind, s study.Spec, c driver.Config) (limit driver.Limit) {
	size := max(1, int64(s.MessageSize.Mean()))
	if kind.Keeps != nil {
		limit = kind.Keeps(c.Client, c.Topic, size)
	}
	if kind.ServerKeeps != nil {
		limit = limit.Least(kind.ServerKeeps(s.Server, size))
	}
	return limit
}

// readable returns settings with text such as "5ms" in place of durations, which JSON would hold as numbers without a unit.
func readable(values driver.Values) map[string]any {
	out := map[string]any{}
	for name, value := range values {
		if d, ok := value.(time.Duration); ok {
			value = d.String()
		}
		out[name] = value
	}
	return out
}

func guarantee(s study.Spec) driver.Guarantee {
	return driver.Guarantee{
		Delivery: driver.Delivery(s.Delivery), Persistence: driver.Persistence(s.Persistence),
		Replicas: s.Replicas, Acks: driver.Acks(s.Acks), Ordering: driver.Ordering(s.Ordering),
	}
}

// decoded returns the guarantee, the client settings and the topic settings of a spec as its driver takes them.
func decoded(kind driver.Kind, s study.Spec) (c driver.Config, err error) {
	c.Guarantee = guarantee(s)
	if c.Client, err = driver.Decode(kind.Settings, driver.ClientScope, s.Client); err != nil {
		return c, err
	}
	c.Topic, err = driver.Decode(kind.Settings, driver.TopicScope, s.Topic)
	return c, err
}

// serverSettings returns the settings that a point's broker is started with: those of the spec, those that the guarantee needs,
// and in a pipeline those that let the broker report its queue. For an attached broker they are those of the spec.
func serverSettings(s study.Spec) (map[string]any, error) {
	kind, err := driver.Lookup(s.Broker)
	if err != nil || len(s.Attach) > 0 {
		return s.Server, nil //nolint:nilerr // Possible and bench.run refuse an unknown broker
	}
	settings := s.Server
	if s.Pipeline != nil && kind.Watched != nil {
		settings = kind.Watched(settings)
	}
	if kind.Transacts != nil {
		client, err := driver.Decode(kind.Settings, driver.ClientScope, s.Client)
		if err != nil {
			return nil, err
		}
		settings = kind.Transacts(guarantee(s), client, s.Relays, settings)
	}
	if kind.Server == nil {
		return settings, nil
	}
	return kind.Server(guarantee(s), settings)
}
