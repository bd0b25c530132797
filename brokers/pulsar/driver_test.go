package pulsar

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main()
	os.Exit(m.Run())
}

// start brings a broker up for the test, or skips where Pulsar can't be installed.
func start(t *testing.T, o provision.Options) *provision.Instance {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	o.Broker, o.Deadline = "pulsar", 3*time.Minute
	in, err := host.Start(t.Context(), o)
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		t.Skipf("Pulsar can't be installed here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in
}

func target(in *provision.Instance) driver.Target {
	return driver.Target{Addresses: in.Addresses(), TLS: in.ClientTLS(), Version: in.Version(), Endpoints: in.Endpoints()}
}

func kind(t *testing.T) driver.Kind {
	k, err := driver.Lookup("pulsar")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func guarantee(d driver.Delivery, p driver.Persistence, a driver.Acks, o driver.Ordering) driver.Guarantee {
	return driver.Guarantee{Delivery: d, Persistence: p, Replicas: 1, Acks: a, Ordering: o}
}

func TestContractHoldsOnARealBroker(t *testing.T) {
	var in *provision.Instance
	ctx := context.Background()
	fault := func(do func(context.Context, int) error) func(*testing.T) {
		return func(t *testing.T) {
			if err := do(ctx, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	drivertest.Run(t, drivertest.Suite{
		Kind: kind(t),
		Target: func(t *testing.T) driver.Target {
			in = start(t, provision.Options{Server: map[string]any{
				"journalSyncData": true,
				// A non-persistent topic drops what finds more than this waiting for its consumer's connection; the
				// suite sends some messages of 64 KiB.
				"pulsarChannelWriteBufferHighWaterMark": 16 << 20, "pulsarChannelWriteBufferLowWaterMark": 8 << 20,
			}})
			return target(in)
		},
		Guarantees: []driver.Guarantee{
			guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered),
			guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered),
			guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered),
			guarantee(driver.AtMostOnce, driver.Log, driver.AcksNone, driver.Unordered),
			guarantee(driver.ExactlyOnce, driver.Log, driver.AcksQuorum, driver.Ordered),
		},
		Pause:  fault(func(ctx context.Context, n int) error { return in.Pause(ctx, n) }),
		Resume: fault(func(ctx context.Context, n int) error { return in.Resume(ctx, n) }),
		Kill:   fault(func(ctx context.Context, n int) error { return in.Kill(ctx, n) }),
	})
}

func TestThreeNodesWithTLSKeepTheContractAndTheirPromisesWhenTheLeaderDies(t *testing.T) {
	g := copies(atLeast, 3)
	var in *provision.Instance
	drivertest.Run(t, drivertest.Suite{
		Kind: kind(t),
		Target: func(t *testing.T) driver.Target {
			in = start(t, provision.Options{Nodes: 3, TLS: true})
			return target(in)
		},
		Guarantees: []driver.Guarantee{g},
	})
	if in == nil {
		return
	}
	t.Run("without TLS it can't be opened, and the error says why", func(t *testing.T) {
		bare := target(in)
		bare.TLS = nil
		requireOpenError(t, bare, "TLS")
	})
	t.Run("a certificate of somebody else's is not trusted", func(t *testing.T) {
		foreign := target(in)
		foreign.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		requireOpenError(t, foreign, "its certificate is not trusted")
	})
	breakAndCheck(t, in, []promise{
		{g: g, mayRepeat: true},
		{g: copies(unordered(atLeast), 2), mayRepeat: true},
		{g: copies(exactly, 2)},
		{g: copies(atMost, 2), mayLose: true, mayFail: true},
	})
}

func requireOpenError(t *testing.T, to driver.Target, want string) {
	t.Helper()
	began := time.Now()
	d, err := open(t.Context(), driver.Config{Target: to, Client: decode(t, driver.ClientScope, nil), Guarantee: atLeast})
	if err == nil {
		_ = d.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) || time.Since(began) > 3*openPatience {
		t.Errorf("open: %v after %v; want %q soon", err, time.Since(began), want)
	}
}
