package rabbitmqstream

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main()
	os.Exit(m.Run())
}

var (
	fast   = driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered}
	logged = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered}
	once   = driver.Guarantee{Delivery: driver.ExactlyOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksQuorum, Ordering: driver.Ordered}
)

// started is a running broker, or a skipped test where it can't be had.
func started(t *testing.T, o provision.Options) (*provision.Instance, driver.Target) {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	must(t, err)
	o.Broker = "rabbitmq-stream"
	in, err := host.Start(t.Context(), o)
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		t.Skipf("RabbitMQ %s can't be installed here: %v", o.Version, err)
	}
	must(t, err)
	t.Cleanup(func() {
		if err := in.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in, reach.Instance(in)
}

func kind(t *testing.T) driver.Kind {
	t.Helper()
	k, err := driver.Lookup("rabbitmq-stream")
	must(t, err)
	return k
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDriverKeepsThePromises(t *testing.T) {
	var in *provision.Instance
	drivertest.Run(t, drivertest.Suite{
		Kind: kind(t),
		Target: func(t *testing.T) (target driver.Target) {
			in, target = started(t, provision.Options{})
			return target
		},
		Guarantees: []driver.Guarantee{fast, logged, once},
		Pause:      func(t *testing.T) { must(t, in.Pause(t.Context(), 1)) },
		Resume:     func(t *testing.T) { must(t, in.Resume(t.Context(), 1)) },
		Restart: func(t *testing.T) {
			must(t, in.Kill(t.Context(), 1))
			must(t, in.Restart(t.Context(), 1))
		},
		Kill: func(t *testing.T) { must(t, in.Kill(t.Context(), 1)) },
		Cost: func(*testing.T) drivertest.Cost { return livetest.Cost(in) },
		Guarded: func(t *testing.T) driver.Target {
			_, target := started(t, livetest.Guarded(provision.Options{}))
			return target
		},
	})
}
