package jetstream_test

import (
	"os"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/natsio/natstest"
	_ "github.com/brokermark/brokermark/brokers/jetstream"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main()
	os.Exit(m.Run())
}

var (
	memoryOnce  = driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered}
	memoryLeast = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered}
	fileLeast   = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered}
	exactlyOnce = driver.Guarantee{Delivery: driver.ExactlyOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered}
	synced      = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Fsync, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered}
)

func kind(t *testing.T) driver.Kind {
	t.Helper()
	k, err := driver.Lookup("jetstream")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestDriverKeepsThePromises(t *testing.T) {
	var server *provision.Instance
	s := drivertest.Suite{
		Kind: kind(t), Guarantees: []driver.Guarantee{memoryOnce, memoryLeast, fileLeast, exactlyOnce, synced},
		Target: func(t *testing.T) driver.Target {
			server = natstest.Start(t, provision.Options{
				Broker: "jetstream", Server: map[string]any{"jetstream.sync_interval": "always"},
			})
			return natstest.Target(server)
		},
	}
	s.Guarded = func(t *testing.T) driver.Target {
		return natstest.Target(natstest.Start(t, livetest.Guarded(provision.Options{Broker: "jetstream"})))
	}
	s.Client = map[string]any{"AckWait": "2s"} // what was on its way to a consumer when the server died comes again after that
	s.Restart = natstest.Restart(func() *provision.Instance { return server })
	s.Cost = func(*testing.T) drivertest.Cost { return livetest.Cost(server) }
	s.Pause, s.Resume, s.Kill = natstest.Faults(func() *provision.Instance { return server })
	drivertest.Run(t, s)
}
