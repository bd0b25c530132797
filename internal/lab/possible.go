package lab

import (
	"errors"
	"fmt"
	"maps"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
)

// Possible returns an error if it is known, without a running broker, that a point can't be run. A setting with a value
// that it can't have is an ordinary error; all other errors are *driver.ErrUnsupported or *provision.ErrRefused.
func Possible(s study.Spec) error {
	kind, err := driver.Lookup(s.Broker)
	if err != nil {
		return err
	}
	c, err := decoded(kind, s)
	if err != nil {
		if _, unsupported := errors.AsType[*driver.ErrUnsupported](err); unsupported {
			return err // it names the broker already
		}
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

// supported returns an error if the broker, as it is started here, or its driver can't do what a spec asks for. c has
// the guarantee, the client settings and the topic settings of the spec, as decoded returns them.
func supported(kind driver.Kind, s study.Spec, c driver.Config) error {
	for _, check := range []func(study.Spec) error{checkStart, checkLimits, checkNetwork, checkGenerator} {
		if err := check(s); err != nil {
			return err
		}
	}
	if err := checkOffer(kind, s, c.Client); err != nil {
		return err
	}
	target, err := expectedTarget(s)
	if err != nil {
		return err
	}
	c.Target = target
	size := shape(s)
	size.MaxBytes += headerBytes(s, kind, c)
	return kind.Refusal(c, size)
}

// checkStart refuses a point whose broker can't run as the spec wants it: in this process, or in processes that its
// recipe starts. A broker that somebody else has started (attach) is not refused here.
func checkStart(s study.Spec) error {
	recipe, hasProcesses := catalog.Started(s.Broker)
	if !hasProcesses {
		return checkInProcess(s)
	}
	if len(s.Attach) > 0 {
		return nil
	}
	v, err := recipe.Version(s.Version)
	if err != nil {
		return err
	}
	if most := recipe.Largest(v); s.Nodes > most {
		return driver.Unsupported(fmt.Sprintf("nodes: %d", s.Nodes), "at most %d of %s %s can be started here", most, s.Broker, v.Name)
	}
	for _, f := range s.Faults {
		if f.Node == "leader" && recipe.Leader == nil && s.Nodes > 1 {
			return driver.Unsupported("faults: node leader", "which node of %s leads isn't known; name it by number, or all", s.Broker)
		}
	}
	if s.TLS != study.TLSOff && !recipe.TLS {
		return driver.Unsupported("tls: "+s.TLS, "%s can't be started here with TLS", s.Broker)
	}
	if s.TLS == study.TLSMutual && !recipe.Mutual {
		return driver.Unsupported("tls: "+s.TLS, "%s can't be started here so that it demands client certificates", s.Broker)
	}
	return nil
}

// checkInProcess refuses what a broker that runs in this process can't do; nil if the spec asks for none of it.
func checkInProcess(s study.Spec) error {
	refuse := func(setting, why string) error {
		return driver.Unsupported(setting, "%s runs in this process, %s", s.Broker, why)
	}
	const (
		unreachable = "and no other one reaches it"
		anew        = "anew for each repetition"
	)
	switch {
	case s.Limits.Broker != study.Limit{}:
		return refuse("limits.broker", "and no control group holds it alone")
	case s.ConsumersApart:
		return refuse("consumersApart: true", unreachable)
	case s.Relays > 0:
		return refuse(fmt.Sprintf("relays: %d", s.Relays), unreachable)
	case len(s.Attach) > 0:
		return refuse("attach", anew)
	case s.Version != "":
		return refuse("version: "+s.Version, anew)
	case s.Nodes > 1:
		return refuse(fmt.Sprintf("nodes: %d", s.Nodes), anew)
	case len(s.Server) > 0:
		return refuse("server", anew)
	case len(s.Faults) > 0:
		return refuse("faults", anew)
	case s.Isolation == "shared":
		return refuse("isolation: shared", anew)
	case s.BrokerWarmup > 0:
		return refuse("brokerWarmup", anew)
	case s.Pipeline != nil:
		return refuse("pipeline", anew)
	case s.ConsumerDelay > 0 && len(consumers(s)) > 1:
		return driver.Unsupported("consumerDelay", "%s serves its %d consumers one after the other, "+
			"so one's work would hold up all; allowed: one consumer", s.Broker, len(consumers(s)))
	case s.TLS != study.TLSOff:
		return refuse("tls: "+s.TLS, "without a network")
	}
	return nil
}

// checkOffer refuses what a kind of broker, or its driver, never offers: backlogs, shared connections or keys.
func checkOffer(kind driver.Kind, s study.Spec, client driver.Values) error {
	if s.Measure == study.MeasureBacklog && kind.Transient {
		return driver.Unsupported("measure: backlog", "%s keeps nothing for consumers that are not connected", kind.Name)
	}
	if s.Connections > 0 && !kind.Shared {
		return driver.Unsupported(fmt.Sprintf("connections: %d", s.Connections),
			"%s has a connection for every producer and consumer here; allowed: 0", kind.Name)
	}
	if keyKinds[s.KeyDistributor] != "none" && kind.Keyless != nil {
		if why := kind.Keyless(client); why != "" {
			return driver.Unsupported("keyDistributor: "+s.KeyDistributor, "%s; use NO_KEY", why)
		}
	}
	return nil
}

// expectedTarget returns what is known of a broker before it runs. Of one that will be started, that is the version,
// the settings and the number of nodes: with 3 nodes, it has 3 addresses, which are still empty.
func expectedTarget(s study.Spec) (driver.Target, error) {
	recipe, hasProcesses := catalog.Started(s.Broker)
	if !hasProcesses || len(s.Attach) > 0 {
		return driver.Target{Addresses: s.Attach, Login: driver.Login(s.Login), User: s.User}, nil
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

// shape returns how many topics, clients and messages a driver has to be able to handle. MaxBytes is without headers.
func shape(s study.Spec) driver.Shape {
	return driver.Shape{
		Topics: s.Topics, Partitions: s.PartitionsPerTopic, Subscriptions: s.SubscriptionsPerTopic, Producers: s.ProducersPerTopic,
		Consumers: s.ConsumerPerSubscription.Largest(), Fewest: s.ConsumerPerSubscription.Smallest(),
		Connections: s.Connections, Relays: s.Relays, MaxBytes: int(s.MessageSize.Largest()), InFlight: inFlightPerClient(s),
		Keyless: keyKinds[s.KeyDistributor] == "none", Headers: len(s.Headers) > 0, Backlog: s.Measure == study.MeasureBacklog, Topic: s.TopicName, Past: s.Read.From == study.ReadStart, Prefix: s.TopicPrefix,
	}
}

// inFlightPerClient returns how many unconfirmed messages a client may have: those of all producers that share it. With
// connections: 4, the first producers of all topics share 4 clients, the second ones share 4 others, and so on: a
// client has one producer of each of its topics, however many a topic has. For example, 10 topics have up to 3
// producers on a client, so with 100 messages for each producer it may have 300.
func inFlightPerClient(s study.Spec) int {
	// A producer may have one message in flight, however large it is.
	perProducer := max(1, min(s.InFlight.Messages, int(s.InFlight.Bytes/max(1, s.MessageSize.Largest()))))
	if s.Connections == 0 { // each producer has a client of its own
		return perProducer
	}
	topicsPerClient := (s.Topics + s.Connections - 1) / s.Connections // rounded up
	return perProducer * topicsPerClient
}
