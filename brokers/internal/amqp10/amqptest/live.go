package amqptest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// RequireOpenError opens the target and wants an error soon that says what part says.
func RequireOpenError(t *testing.T, broker string, target driver.Target, g driver.Guarantee, part string) {
	t.Helper()
	drv, err := Kind(t, broker).Open(t.Context(), Config(t, broker, target, g, nil, nil))
	if err == nil {
		_ = drv.Close()
	}
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("open: %v; want one that says %q", err, part)
	}
}

// Attaching checks that a target that can't work is answered with the reason.
func Attaching(t *testing.T, broker string, plain driver.Target) {
	t.Run("fsync is refused where nobody knows how the broker stores", func(t *testing.T) {
		unknown := plain
		unknown.Endpoints = nil
		RequireOpenError(t, broker, unknown, Synced, "persistence: fsync is not supported")
	})
}

// Survives sends at a modest rate while break is done to the broker, and wants every acknowledged message to arrive at
// every subscription, and sending to work again.
func Survives(t *testing.T, broker string, target driver.Target, g driver.Guarantee, breaks func(context.Context) error, subscriptions ...string) {
	t.Helper()
	r := Open(t, broker, Config(t, broker, target, g, nil, nil), subscriptions...)
	r.Send(t, 100)
	r.Settled(t)
	broken := make(chan error, 1)
	go func() { broken <- breaks(context.Background()) }()
	for done := false; !done; {
		r.Send(t, 20)
		select {
		case err := <-broken:
			Must(t, err)
			done = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	before, _ := r.Acked()
	Eventually(t, "messages are acknowledged again", func() bool {
		r.Send(t, 20)
		acked, _ := r.Acked()
		return acked >= before+100
	})
	r.Settled(t)
	acked, failed := r.Acked()
	t.Logf("%d acknowledged, all received; %d failed", acked, failed)
}

// Refuses starts brokers with settings that must be refused by name.
func Refuses(t *testing.T, broker string, settings map[string]any) {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	Must(t, err)
	for name, value := range settings {
		in, err := host.Start(t.Context(), provision.Options{Broker: broker, Server: map[string]any{name: value}})
		if err == nil {
			_ = in.Stop(context.Background())
		}
		var missing *provision.ErrMissing
		var refused *provision.ErrSetting
		switch {
		case errors.As(err, &missing):
			t.Skipf("%s can't be installed here: %v", broker, err)
		case !errors.As(err, &refused) || refused.Name != name:
			t.Errorf("%s: %v was answered with %v; want it refused by name", name, value, err)
		default:
			t.Log(err)
		}
	}
}
