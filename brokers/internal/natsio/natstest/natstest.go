// Package natstest starts real NATS servers for tests: children of the test binary, whose TestMain must call
// provision.Main.
package natstest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Start starts a broker that ends with the test.
func Start(t *testing.T, o provision.Options) *provision.Instance {
	t.Helper()
	in, err := Host(t).Start(context.Background(), o)
	if err != nil {
		t.Fatalf("start %s: %v", o.Broker, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := in.Stop(ctx); err != nil {
			t.Errorf("stop %s: %v", o.Broker, err)
		}
	})
	return in
}

// Host makes a place for brokers that goes with the test.
func Host(t *testing.T) *provision.Host {
	t.Helper()
	// Not t.TempDir: servers run as the user nobody, who can't enter that.
	dir, err := os.MkdirTemp("", "brokermark-nats-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := provision.NewHost(dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Target is where in is reached.
func Target(in *provision.Instance) driver.Target {
	return reach.Instance(in)
}

// Faults are the pause, resume and kill of in's only node, for the conformance suite. in is asked for when they happen.
func Faults(in func() *provision.Instance) (pause, resume, kill func(t *testing.T)) {
	fault := func(do func(in *provision.Instance) error) func(t *testing.T) {
		return func(t *testing.T) {
			t.Helper()
			if err := do(in()); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx := context.Background()
	return fault(func(in *provision.Instance) error { return in.Pause(ctx, 1) }),
		fault(func(in *provision.Instance) error { return in.Resume(ctx, 1) }),
		fault(func(in *provision.Instance) error { return in.Kill(ctx, 1) })
}

// Restart kills in's only node and starts it again, for the conformance suite.
func Restart(in func() *provision.Instance) func(t *testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if err := in().Kill(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		if err := in().Restart(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
	}
}
