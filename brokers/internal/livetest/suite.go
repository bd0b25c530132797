package livetest

import (
	"context"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

// Suite returns the conformance suite for a broker that it starts itself; with every fault, unless it is a cluster.
func Suite(t *testing.T, o provision.Options, guarantees ...driver.Guarantee) drivertest.Suite {
	t.Helper()
	var in *provision.Instance
	s := suite(Kind(t, o.Broker), &in, o.Nodes, guarantees)
	s.Target = func(t *testing.T) (target driver.Target) {
		in, target = Start(t, o)
		return target
	}
	return s
}

// Tuned is Suite with the client library as fast as the driver can drive it.
func Tuned(t *testing.T, o provision.Options, guarantees ...driver.Guarantee) drivertest.Suite {
	t.Helper()
	s := Suite(t, o, guarantees...)
	s.Client = map[string]any{"mode": driver.Tuned}
	return s
}

// SuiteOn returns the same suite for a running broker. The last of its promises ends the broker.
func SuiteOn(t *testing.T, in *provision.Instance, guarantees ...driver.Guarantee) drivertest.Suite {
	t.Helper()
	s := suite(Kind(t, in.Broker()), &in, in.Nodes(), guarantees)
	s.Target = func(*testing.T) driver.Target { return TargetOf(in) }
	return s
}

// suite has the faults of the only node of what in holds when they happen.
func suite(k driver.Kind, in **provision.Instance, nodes int, guarantees []driver.Guarantee) drivertest.Suite {
	s := drivertest.Suite{Kind: k, Guarantees: guarantees}
	if nodes > 1 {
		return s
	}
	fault := func(do func(context.Context) error) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			Must(t, do(t.Context()))
		}
	}
	s.Pause = fault(func(ctx context.Context) error { return (*in).Pause(ctx, 1) })
	s.Resume = fault(func(ctx context.Context) error { return (*in).Resume(ctx, 1) })
	s.Kill = fault(func(ctx context.Context) error { return (*in).Kill(ctx, 1) })
	s.Restart = fault(func(ctx context.Context) error { return Restart(ctx, *in, 1) })
	s.Cost = func(*testing.T) drivertest.Cost { return Cost(*in) }
	return s
}

// GuardedBroker starts a broker for the suite that is guarded in every way.
func GuardedBroker(o provision.Options) func(*testing.T) driver.Target {
	return func(t *testing.T) driver.Target {
		t.Helper()
		_, target := Start(t, Guarded(o))
		return target
	}
}
