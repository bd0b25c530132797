package lab

// A spec gives settings as text or YAML values. This file turns them into the types that drivers and recipes take: "5ms" for example
// into a time.Duration of 5 ms.

import (
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// driverConfig returns the spec's settings as the driver takes them; how the broker is reached is left to the caller. It notes them in
// the record. It refuses the point if the driver can't keep its guarantee.
func (b *bench) driverConfig(kind driver.Kind) (driver.Config, error) {
	config, err := decoded(kind, b.spec)
	if err != nil {
		return driver.Config{}, err
	}
	if err := b.noteSettings(kind, config); err != nil {
		return driver.Config{}, err
	}
	if err := supported(kind, b.spec, config); err != nil {
		return driver.Config{}, err
	}
	config.Log = b.lab.options.Log
	return config, nil
}

// Pasted returns the client's settings of a spec as they are pasted into clients of other libraries; none for one that is refused, and
// where nothing of that is known. They are made of checked values whenever they are shown: a record may be a stranger's.
func Pasted(s study.Spec) []driver.Pasted {
	kind, err := driver.Lookup(s.Broker)
	if err != nil || kind.Pasted == nil {
		return nil
	}
	config, err := decoded(kind, s)
	if err != nil || kind.Supports(config.Guarantee) != nil {
		return nil
	}
	return kind.Pasted(config.Guarantee, config.Client, int(s.MessageSize.Largest()))
}

// noteSettings notes in the record the settings, defaults included, and the versions, and in the bench, which is one repetition under
// way, the limit of the queues.
func (b *bench) noteSettings(kind driver.Kind, config driver.Config) error {
	server, err := serverSettings(b.spec)
	if err != nil {
		return err
	}
	b.record.Settings = store.Settings{Server: server, Client: readable(config.Client), Topic: readable(config.Topic)}
	if b.spec.TopicName != "" { // whose settings are its owner's
		b.record.Settings.Topic = nil
	}
	b.record.Versions.Client = moduleVersion(kind.Client)
	b.record.Versions.Broker = b.spec.Version // until the broker has been started
	b.record.Failover = kind.Failover
	b.limit = queueLimit(kind, b.spec, config)
	if kind.Redelivers != nil {
		b.redelivery, b.ackSetting = kind.Redelivers(config.Guarantee, config.Client, server)
	}
	return nil
}

// queueLimit returns the limit on what the broker's queues keep; the zero value if there is none. A limit in bytes becomes one in
// messages of the mean size.
func queueLimit(kind driver.Kind, s study.Spec, c driver.Config) (limit driver.Limit) {
	size := max(1, int64(s.MessageSize.Mean()))
	if kind.Keeps != nil { // the driver has settings of the client or the topic that limit a queue
		limit = kind.Keeps(c.Client, c.Topic, size)
	}
	if kind.ServerKeeps != nil { // the server has such settings
		limit = limit.Least(kind.ServerKeeps(s.Server, s.Topic, size))
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

// guarantee returns what a spec demands of the broker.
func guarantee(s study.Spec) driver.Guarantee {
	return driver.Guarantee{
		Delivery: driver.Delivery(s.Delivery), Persistence: driver.Persistence(s.Persistence),
		Replicas: s.Replicas, Acks: driver.Acks(s.Acks), Ordering: driver.Ordering(s.Ordering),
	}
}

// decoded returns the guarantee, the client settings and the topic settings of a spec as its driver takes them.
func decoded(kind driver.Kind, s study.Spec) (driver.Config, error) {
	client, err := driver.Decode(kind.Settings, driver.ClientScope, s.Client)
	if err != nil {
		return driver.Config{}, err
	}
	topic, err := driver.Decode(kind.Settings, driver.TopicScope, s.Topic)
	if err != nil {
		return driver.Config{}, err
	}
	return driver.Config{Guarantee: guarantee(s), Client: client, Topic: topic}, nil
}

// serverSettings returns the settings that a point's broker is started with: those of the spec and those that its driver adds to a copy
// of them. For an attached broker they are those of the spec.
func serverSettings(s study.Spec) (map[string]any, error) {
	if len(s.Attach) > 0 {
		return s.Server, nil
	}
	kind, err := driver.Lookup(s.Broker)
	if err != nil {
		return nil, err
	}
	settings := s.Server
	if s.Pipeline != nil && kind.Watched != nil { // the server reports more about queues that somebody watches
		settings = kind.Watched(settings)
	}
	if kind.Server != nil { // the server keeps the guarantee
		return kind.Server(guarantee(s), settings)
	}
	return settings, nil
}
