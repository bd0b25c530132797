package lab

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
)

// Possible refuses what a point asks for and is known, without a running broker, not to be had. A value that is none
// of its setting's is an ordinary error; everything else is *driver.ErrUnsupported or *provision.ErrRefused.
func Possible(s study.Spec) error {
	kind, err := driver.Lookup(s.Broker)
	if err != nil {
		return err
	}
	c, err := asked(kind, s)
	if err != nil {
		return ofBroker(s, err)
	}
	if err := supported(kind, s, c); err != nil {
		return err
	}
	return reachable(s)
}

// asked is what the spec asks of the driver.
func asked(kind driver.Kind, s study.Spec) (c driver.Config, err error) {
	c.Guarantee = guarantee(s)
	if c.Client, err = driver.Decode(kind.Settings, driver.ClientScope, s.Client); err != nil {
		return c, err
	}
	c.Topic, err = driver.Decode(kind.Settings, driver.TopicScope, s.Topic)
	return c, err
}

// ofBroker says whose setting has a wrong value.
func ofBroker(s study.Spec, err error) error {
	if errors.As(err, new(*driver.ErrUnsupported)) {
		return err
	}
	return fmt.Errorf("%s: %w", s.Broker, err)
}

// supported asks the driver.
func supported(kind driver.Kind, s study.Spec, c driver.Config) error {
	keyless := ""
	if kind.Keyless != nil {
		keyless = kind.Keyless(c.Client)
	}
	switch {
	case s.Measure == study.MeasureBacklog && kind.Transient:
		return driver.Unsupported("measure: backlog", "%s keeps nothing for consumers that are not connected", kind.Name)
	case s.Connections > 0 && !kind.Shared:
		return driver.Unsupported(fmt.Sprintf("connections: %d", s.Connections), "%s has a connection for every producer and consumer here; allowed: 0", kind.Name)
	case keyKinds[s.KeyDistributor] != "none" && keyless != "":
		return driver.Unsupported("keyDistributor: "+s.KeyDistributor, "%s; use NO_KEY", keyless)
	}
	if err := cmp.Or(separable(s), relayable(s)); err != nil {
		return err
	}
	server, err := served(s)
	if err != nil {
		return err
	}
	if c.Target, err = before(s, server); err != nil {
		return err
	}
	return kind.Refusal(c, driver.Shape{
		Topics: s.Topics, Partitions: s.PartitionsPerTopic, Subscriptions: s.SubscriptionsPerTopic,
		Producers: s.ProducersPerTopic, Consumers: s.ConsumerPerSubscription.Largest(), Fewest: s.ConsumerPerSubscription.Smallest(), Connections: s.Connections,
		Relays: s.Relays, MaxBytes: int(s.MessageSize.Largest()), InFlight: window(s),
		Backlog: s.Measure == study.MeasureBacklog,
	})
}

// before is what is known of a broker before it runs, see driver.Kind.Fits.
func before(s study.Spec, server map[string]any) (driver.Target, error) {
	t := driver.Target{Addresses: s.Attach, User: s.User}
	recipe, ok := catalog.Started(s.Broker)
	if !ok || len(s.Attach) > 0 {
		return t, nil
	}
	v, err := recipe.Version(s.Version)
	if err != nil {
		return t, err
	}
	t.Addresses, t.Version, t.Server = make([]string, s.Nodes), v.Name, map[string]any{}
	maps.Copy(t.Server, server)
	return t, nil
}

// window is how many messages a client may have in flight: those of all producers that share it.
func window(s study.Spec) int {
	each := max(1, min(s.InFlight.Messages, int(s.InFlight.Bytes/max(1, s.MessageSize.Largest()))))
	if s.Connections == 0 {
		return each
	}
	return each * ((s.Topics + s.Connections - 1) / s.Connections)
}

// reachable asks the recipe, where a broker would be started.
func reachable(s study.Spec) error {
	recipe, ok := catalog.Started(s.Broker)
	if !ok {
		return inProcess(s)
	}
	if len(s.Attach) > 0 {
		_, err := Attached(s)
		return err
	}
	return startable(recipe, s)
}

// startable refuses what the recipe can't start.
func startable(r *provision.Recipe, s study.Spec) error {
	v, err := r.Version(s.Version)
	if err != nil {
		return err
	}
	if most := r.Largest(v); s.Nodes > most {
		return driver.Unsupported(fmt.Sprintf("nodes: %d", s.Nodes), "at most %d of %s %s can be started here", most, s.Broker, v.Name)
	}
	for _, f := range s.Faults {
		if f.Node == "leader" && r.Leader == nil && s.Nodes > 1 {
			return driver.Unsupported("faults: node leader", "which node of %s leads isn't known; name it by number, or all", s.Broker)
		}
	}
	return Encryptable(s, r)
}

// inProcess refuses what only a broker with processes of its own has.
func inProcess(s study.Spec) error {
	for _, f := range []struct {
		asked   bool
		setting string
	}{
		{len(s.Attach) > 0, "attach"},
		{s.Version != "", "version: " + s.Version},
		{s.Nodes > 1, fmt.Sprintf("nodes: %d", s.Nodes)},
		{len(s.Server) > 0, "server"},
		{len(s.Faults) > 0, "faults"},
		{s.Isolation == "shared", "isolation: shared"},
		{s.BrokerWarmup > 0, "brokerWarmup"},
		{s.Pipeline != nil, "pipeline"},
	} {
		if f.asked {
			return driver.Unsupported(f.setting, "%s runs in this process, anew for each repetition", s.Broker)
		}
	}
	if n := len(consumers(s)); s.ConsumerDelay > 0 && n > 1 {
		return driver.Unsupported("consumerDelay", "%s serves its %d consumers one after the other, so one's work would hold up all; allowed: one consumer", s.Broker, n)
	}
	return Encryptable(s, nil)
}
