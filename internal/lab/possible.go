package lab

import (
	"errors"
	"fmt"
	"maps"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
)

// Possible returns an error if it is known, without a running broker, that a point can't be run. A setting with a value that it
// can't have is an ordinary error; all other errors are *driver.ErrUnsupported or *provision.ErrRefused.
func Possible(s study.Spec) error {
	kind, err := driver.Lookup(s.Broker)
	if err != nil {
		return err
	}
	c, err := decoded(kind, s)
	switch {
	case errors.As(err, new(*driver.ErrUnsupported)):
		return err
	case err != nil:
		return fmt.Errorf("%s: %w", s.Broker, err)
	}
	if err := supported(kind, s, c); err != nil {
		return err
	}
	if len(s.Attach) > 0 {
		_, err = attachedTarget(s)
	}
	return err
}

// supported returns an error if the broker, as it is started here, or its driver can't do what a spec asks for. c is what decoded returns
// for the spec. Its Target is still empty: it would say how a running broker is reached.
func supported(kind driver.Kind, s study.Spec, c driver.Config) error {
	recipe, hasProcesses := catalog.Started(s.Broker)
	var err error
	switch {
	case !hasProcesses:
		err = inProcess(s)
	case len(s.Attach) == 0:
		err = startable(recipe, s)
	}
	if err != nil {
		return err
	}
	if err := offered(kind, s, c.Client); err != nil {
		return err
	}
	if c.Target, err = expectedTarget(s); err != nil {
		return err
	}
	return kind.Refusal(c, driver.Shape{
		Topics: s.Topics, Partitions: s.PartitionsPerTopic, Subscriptions: s.SubscriptionsPerTopic,
		Producers: s.ProducersPerTopic, Consumers: s.ConsumerPerSubscription.Largest(), Fewest: s.ConsumerPerSubscription.Smallest(),
		Connections: s.Connections, Relays: s.Relays, MaxBytes: int(s.MessageSize.Largest()), InFlight: inFlightPerClient(s),
		Backlog: s.Measure == study.MeasureBacklog,
	})
}

// offered refuses what a kind of broker, or its driver, never offers: backlogs, shared connections or keys.
func offered(kind driver.Kind, s study.Spec, client driver.Values) error {
	if s.Measure == study.MeasureBacklog && kind.Transient {
		return driver.Unsupported("measure: backlog", "%s keeps nothing for consumers that are not connected", kind.Name)
	}
	if s.Connections > 0 && !kind.Shared {
		return driver.Unsupported(fmt.Sprintf("connections: %d", s.Connections), "%s has a connection for every producer and consumer here; allowed: 0", kind.Name)
	}
	if keyKinds[s.KeyDistributor] != "none" && kind.Keyless != nil {
		if why := kind.Keyless(client); why != "" {
			return driver.Unsupported("keyDistributor: "+s.KeyDistributor, "%s; use NO_KEY", why)
		}
	}
	return nil
}

// expectedTarget returns what is known of a broker before it runs. Of one that will be started, that is the version, the settings and the
// number of nodes: with 3 nodes, it has 3 addresses, which are still empty.
func expectedTarget(s study.Spec) (driver.Target, error) {
	recipe, hasProcesses := catalog.Started(s.Broker)
	if !hasProcesses || len(s.Attach) > 0 {
		return driver.Target{Addresses: s.Attach, User: s.User}, nil
	}
	v, err := recipe.Version(s.Version)
	if err != nil {
		return driver.Target{}, err
	}
	settings, err := serverSettings(s)
	if err != nil {
		return driver.Target{}, err
	}
	server := map[string]any{} // never nil, by which drivers recognize a broker that somebody else starts
	maps.Copy(server, settings)
	return driver.Target{Addresses: make([]string, s.Nodes), User: s.User, Version: v.Name, Server: server}, nil
}

// inFlightPerClient returns how many unconfirmed messages a client may have: those of all producers that share it. For example, 10 topics
// on 4 connections have up to 3 producers on a client, so with 100 messages for each producer it may have 300.
func inFlightPerClient(s study.Spec) int {
	perProducer := max(1, min(s.InFlight.Messages, int(s.InFlight.Bytes/max(1, s.MessageSize.Largest()))))
	if s.Connections == 0 {
		return perProducer
	}
	producersPerClient := (s.Topics + s.Connections - 1) / s.Connections // rounded up
	return perProducer * producersPerClient
}

// startable refuses a point whose broker the recipe can't start as the spec wants it.
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
	switch {
	case s.TLS != study.TLSOff && !r.TLS:
		return driver.Unsupported("tls: "+s.TLS, "%s can't be started here with TLS", s.Broker)
	case s.TLS == study.TLSMutual && !r.Mutual:
		return driver.Unsupported("tls: "+s.TLS, "%s can't be started here so that it demands client certificates", s.Broker)
	}
	return nil
}

// inProcess refuses what a broker that runs in this process can't do.
func inProcess(s study.Spec) error {
	const unreachable = "and no other one reaches it"
	setting, why := "", "anew for each repetition"
	switch {
	case s.ConsumersApart:
		setting, why = "consumersApart: true", unreachable
	case s.Relays > 0:
		setting, why = fmt.Sprintf("relays: %d", s.Relays), unreachable
	case len(s.Attach) > 0:
		setting = "attach"
	case s.Version != "":
		setting = "version: " + s.Version
	case s.Nodes > 1:
		setting = fmt.Sprintf("nodes: %d", s.Nodes)
	case len(s.Server) > 0:
		setting = "server"
	case len(s.Faults) > 0:
		setting = "faults"
	case s.Isolation == "shared":
		setting = "isolation: shared"
	case s.BrokerWarmup > 0:
		setting = "brokerWarmup"
	case s.Pipeline != nil:
		setting = "pipeline"
	case s.ConsumerDelay > 0 && len(consumers(s)) > 1:
		return driver.Unsupported("consumerDelay", "%s serves its %d consumers one after the other, so one's work would hold up all; allowed: one consumer",
			s.Broker, len(consumers(s)))
	case s.TLS != study.TLSOff:
		setting, why = "tls: "+s.TLS, "without a network"
	default:
		return nil
	}
	return driver.Unsupported(setting, "%s runs in this process, %s", s.Broker, why)
}
