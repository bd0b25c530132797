package natsstreaming_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	_ "github.com/brokermark/brokermark/brokers/nats-streaming"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main()
	os.Exit(m.Run())
}

var (
	once   = driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered}
	memory = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered}
	logged = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered}
	synced = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Fsync, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered}
	quorum = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 3, Acks: driver.AcksQuorum, Ordering: driver.Unordered}
)

func kind(t *testing.T) driver.Kind {
	t.Helper()
	k, err := driver.Lookup("nats-streaming")
	must(t, err)
	return k
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// started is a running broker for g, or a skipped test where it can't be had.
func started(t *testing.T, g driver.Guarantee, o provision.Options) (*provision.Instance, driver.Target) {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	must(t, err)
	o.Broker, o.Nodes = "nats-streaming", g.Replicas
	o.Server, err = kind(t).Server(g, o.Server)
	must(t, err)
	in, err := host.Start(t.Context(), o)
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		t.Skipf("NATS Streaming can't be installed here: %v", err)
	}
	must(t, err)
	t.Cleanup(func() {
		if err := in.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in, reach.Instance(in)
}

// suite is the conformance suite on one server that is started for the first of the guarantees.
func suite(t *testing.T, o provision.Options, guarantees ...driver.Guarantee) drivertest.Suite {
	var in *provision.Instance
	return drivertest.Suite{
		Kind: kind(t), Guarantees: guarantees,
		Target: func(t *testing.T) (target driver.Target) {
			in, target = started(t, guarantees[0], o)
			return target
		},
		Pause:  func(t *testing.T) { must(t, in.Pause(t.Context(), 1)) },
		Resume: func(t *testing.T) { must(t, in.Resume(t.Context(), 1)) },
		Restart: func(t *testing.T) {
			must(t, in.Kill(t.Context(), 1))
			must(t, in.Restart(t.Context(), 1))
		},
		Kill: func(t *testing.T) { must(t, in.Kill(t.Context(), 1)) },
		Cost: func(*testing.T) drivertest.Cost { return livetest.Cost(in) },
	}
}

func TestDriverKeepsThePromisesOnFiles(t *testing.T) {
	s := suite(t, provision.Options{}, synced)
	s.Guarded = func(t *testing.T) driver.Target {
		_, target := started(t, logged, livetest.Guarded(provision.Options{}))
		return target
	}
	drivertest.Run(t, s)
}

func TestDriverKeepsThePromisesInMemory(t *testing.T) {
	drivertest.Run(t, suite(t, provision.Options{}, memory, once))
}
