package mosquitto_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	_ "github.com/brokermark/brokermark/brokers/mosquitto"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main()
	os.Exit(m.Run())
}

var (
	once    = driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered}
	least   = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered}
	exactly = driver.Guarantee{Delivery: driver.ExactlyOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered}
)

func kind(t *testing.T) driver.Kind {
	t.Helper()
	k, err := driver.Lookup("mosquitto")
	must(t, err)
	return k
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// started is a running broker, or a skipped test where it can't be had.
func started(t *testing.T, o provision.Options) (*provision.Instance, driver.Target) {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	must(t, err)
	o.Broker = "mosquitto"
	in, err := host.Start(t.Context(), o)
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		t.Skipf("Mosquitto %s can't be installed here: %v", o.Version, err)
	}
	must(t, err)
	t.Cleanup(func() {
		if err := in.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in, reach.Instance(in)
}

func TestDriverKeepsThePromisesOnEveryVersion(t *testing.T) {
	for i, version := range []string{"2.0.21", "2.0.11"} {
		guarantees := []driver.Guarantee{least, once, exactly}
		t.Run(version, func(t *testing.T) {
			var in *provision.Instance
			s := drivertest.Suite{
				Kind: kind(t),
				Target: func(t *testing.T) (target driver.Target) {
					in, target = started(t, provision.Options{Version: version})
					return target
				},
				Guarantees: guarantees[2*i:], // the old one keeps the strongest
				Pause:      func(t *testing.T) { must(t, in.Pause(t.Context(), 1)) },
				Resume:     func(t *testing.T) { must(t, in.Resume(t.Context(), 1)) },
				Restart: func(t *testing.T) {
					must(t, in.Kill(t.Context(), 1))
					must(t, in.Restart(t.Context(), 1))
				},
				// What waits in the server goes with its memory; but what it could not acknowledge is sent again.
				Keeps: func(driver.Guarantee) bool { return false },
				Kill:  func(t *testing.T) { must(t, in.Kill(t.Context(), 1)) },
				Cost:  func(*testing.T) drivertest.Cost { return livetest.Cost(in) },
			}
			if i == 0 {
				s.Guarded = func(t *testing.T) driver.Target {
					_, target := started(t, livetest.Guarded(provision.Options{}))
					return target
				}
			}
			drivertest.Run(t, s)
		})
	}
}
