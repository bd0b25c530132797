package livetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Says wants err to say part.
func Says(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v; want one that says %q", err, part)
	}
}

// Refused wants err to be the refusal of a setting by that name.
func Refused(t *testing.T, err error, setting string) {
	t.Helper()
	var refusal *driver.ErrUnsupported
	if !errors.As(err, &refusal) || refusal.Setting != setting {
		t.Errorf("%v; want a refusal of %q", err, setting)
	}
}

// OpenSays opens the target with the default settings and wants an error that says part.
func OpenSays(t *testing.T, broker string, target driver.Target, g driver.Guarantee, part string) {
	t.Helper()
	drv, err := Kind(t, broker).Open(t.Context(), Config(t, broker, target, g, nil, nil))
	if err == nil {
		_ = drv.Close()
	}
	Says(t, err, part)
}

// misledBound is how soon a driver has to report that the broker gives its clients an unreachable address.
const misledBound = 15 * time.Second

// Misled wants a driver to report soon that the broker gives its clients address, which can't be reached, and by which setting.
func Misled(t *testing.T, broker string, target driver.Target, g driver.Guarantee, address, setting string) {
	t.Helper()
	began := time.Now()
	drv, err := Kind(t, broker).Open(t.Context(), Config(t, broker, target, g, nil, nil))
	if err == nil {
		ctx, cancel := context.WithTimeout(t.Context(), 2*misledBound)
		defer cancel()
		err = drv.Setup(ctx, Topic("misled", 1, "s"))
		_ = drv.Close()
	}
	if took := time.Since(began); took > misledBound {
		t.Errorf("it took %v to say so", took)
	}
	met, ok := errors.AsType[*driver.ErrConnect](err)
	if !ok || met.Obstacle != driver.Misled || met.Address != address || met.Detail != setting {
		t.Errorf("%v; want that the broker tells its clients to connect to %s (%s)", err, address, setting)
	}
}

// SetupError opens the target, sets topology up and closes it again. Either step may refuse an unsupported topology.
func SetupError(t *testing.T, broker string, c driver.Config, topology driver.Topology) error {
	t.Helper()
	drv, err := Kind(t, broker).Open(t.Context(), c)
	if errors.As(err, new(*driver.ErrUnsupported)) {
		return err
	}
	Must(t, err)
	return errors.Join(drv.Setup(t.Context(), topology), drv.Close())
}

// RefusesServer starts a broker with o and one more server setting, which must be refused by that name with a reason that
// says part.
func RefusesServer(t *testing.T, o provision.Options, name string, value any, part string) {
	t.Helper()
	host := host(t)
	o.Server = driver.Completed(o.Server, map[string]any{name: value})
	in, err := host.Start(t.Context(), o)
	if err == nil {
		_ = in.Stop(context.Background())
	}
	var refused *provision.ErrSetting
	if !errors.As(err, &refused) || refused.Name != name || !strings.Contains(refused.Reason, part) {
		t.Errorf("%s: %v was answered with %v; want it refused by name with %q", name, value, err, part)
	}
}

// RefusesEach does that with each of settings, as a subtest.
func RefusesEach(t *testing.T, o provision.Options, settings map[string]any) {
	t.Helper()
	for name, value := range settings {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) { RefusesServer(t, o, name, value, "") })
	}
}
