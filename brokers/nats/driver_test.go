package natscore_test

import (
	"os"
	"testing"

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
	s.Pause, s.Resume, s.Kill = natstest.Faults(func() *provision.Instance { return server })
	drivertest.Run(t, s)
}
