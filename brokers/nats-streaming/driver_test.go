package natsstreaming_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	_ "github.com/brokermark/brokermark/brokers/nats-streaming"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var (
	once   = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered)
	memory = livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Ordered)
	logged = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	synced = livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Ordered)
	quorum = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 3, Acks: driver.AcksQuorum, Ordering: driver.Unordered}
)

// server is what a server for g is started with.
func server(t *testing.T, g driver.Guarantee, settings map[string]any) provision.Options {
	t.Helper()
	o := provision.Options{Broker: "nats-streaming", Nodes: g.Replicas}
	var err error
	o.Server, err = livetest.Kind(t, o.Broker).Server(g, settings)
	livetest.Must(t, err)
	return o
}

func TestDriverKeepsThePromisesOnFiles(t *testing.T) {
	s := livetest.Suite(t, server(t, synced, nil), synced)
	s.Guarded = livetest.GuardedBroker(server(t, logged, nil))
	drivertest.Run(t, s)
}

func TestDriverKeepsThePromisesInMemory(t *testing.T) {
	drivertest.Run(t, livetest.Suite(t, server(t, memory, nil), memory, once))
}
