package natscore_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/natsio/natstest"
	_ "github.com/brokermark/brokermark/brokers/nats"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main()
	os.Exit(m.Run())
}

var atMostOnce = driver.Guarantee{
	Delivery: driver.AtMostOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered,
}

func kind(t *testing.T) driver.Kind {
	t.Helper()
	k, err := driver.Lookup("nats")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestDriverKeepsThePromises(t *testing.T) {
	var server *provision.Instance
	s := drivertest.Suite{
		Kind: kind(t), Guarantees: []driver.Guarantee{atMostOnce},
		Target: func(t *testing.T) driver.Target {
			server = natstest.Start(t, provision.Options{Broker: "nats"})
			return natstest.Target(server)
		},
	}
	s.Guarded = func(t *testing.T) driver.Target {
		return natstest.Target(natstest.Start(t, livetest.Guarded(provision.Options{Broker: "nats"})))
	}
	s.Cost = func(*testing.T) drivertest.Cost { return livetest.Cost(server) }
	s.Pause, s.Resume, s.Kill = natstest.Faults(func() *provision.Instance { return server })
	drivertest.Run(t, s)
}

func open(t *testing.T, target driver.Target) (driver.Driver, error) {
	t.Helper()
	c, err := driver.Decode(kind(t).Settings, driver.ClientScope, nil)
	if err != nil {
		t.Fatal(err)
	}
	return kind(t).Open(context.Background(), driver.Config{Target: target, Guarantee: atMostOnce, Client: c})
}

func TestPartitionsAreRefused(t *testing.T) {
	drv, err := open(t, natstest.Target(natstest.Start(t, provision.Options{Broker: "nats"})))
	if err != nil {
		t.Fatal(err)
	}
	defer drv.Close()
	err = drv.Setup(context.Background(), driver.Topology{Topics: []driver.Topic{{Name: "x", Partitions: 2}}})
	var refusal *driver.ErrUnsupported
	if !errors.As(err, &refusal) {
		t.Errorf("Setup with 2 partitions: %v; want a refusal", err)
	}
}

func TestClusterWithTLSKeepsThePromises(t *testing.T) {
	drivertest.Run(t, drivertest.Suite{
		Kind: kind(t), Guarantees: []driver.Guarantee{atMostOnce},
		Target: func(t *testing.T) driver.Target {
			return natstest.Target(natstest.Start(t, provision.Options{Broker: "nats", Nodes: 3, TLS: true}))
		},
	})
}
