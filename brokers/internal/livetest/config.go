package livetest

import (
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Kind returns the registered driver.
func Kind(t *testing.T, broker string) driver.Kind {
	t.Helper()
	k, err := driver.Lookup(broker)
	Must(t, err)
	return k
}

// Config decodes native settings; nil are the defaults.
func Config(t *testing.T, broker string, target driver.Target, g driver.Guarantee, client, topic map[string]any) driver.Config {
	t.Helper()
	return driver.Config{
		Target: target, Guarantee: g, Log: &Log{},
		Client: Values(t, broker, driver.ClientScope, client), Topic: Values(t, broker, driver.TopicScope, topic),
	}
}

// Values decodes the native settings of one scope.
func Values(t *testing.T, broker string, scope driver.Scope, given map[string]any) driver.Values {
	t.Helper()
	v, err := driver.Decode(Kind(t, broker).Settings, scope, given)
	Must(t, err)
	return v
}

// Guarantee returns a guarantee of one replica.
func Guarantee(d driver.Delivery, p driver.Persistence, a driver.Acks, o driver.Ordering) driver.Guarantee {
	return driver.Guarantee{Delivery: d, Persistence: p, Replicas: 1, Acks: a, Ordering: o}
}

// Topic returns a topology of one topic.
func Topic(name string, partitions int, subscriptions ...string) driver.Topology {
	return driver.Topology{Topics: []driver.Topic{{Name: name, Partitions: partitions}}, Subscriptions: subscriptions}
}

// TargetOf returns the running instance: its nodes, certificates, login and further addresses.
func TargetOf(in *provision.Instance) driver.Target {
	t := driver.Target{Addresses: in.Addresses(), TLS: in.ClientTLS(), Version: in.Version(), Endpoints: in.Endpoints(), Server: in.Settings()}
	if l := in.Login(); l != nil {
		t.User, t.Password = l.User, l.Password
	}
	return t
}
