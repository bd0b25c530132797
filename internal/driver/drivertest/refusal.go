package drivertest

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

func (r *run) settingsAreComplete(t *testing.T) {
	for _, s := range r.suite.Kind.Settings {
		if s.Name == "" || s.Doc == "" {
			t.Errorf("setting %q has no name or no doc", s.Name)
		}
		if s.Scope != driver.ClientScope && s.Scope != driver.TopicScope {
			t.Errorf("setting %q has scope %q", s.Name, s.Scope)
		}
		if _, err := driver.Decode(r.suite.Kind.Settings, s.Scope, map[string]any{s.Name: s.Default}); err != nil {
			t.Errorf("the default of setting %q doesn't decode: %v", s.Name, err)
		}
	}
	r.config(t, r.suite.Guarantees[0], driver.Target{})
}

func (r *run) unknownSettingIsRefused(t *testing.T) {
	const unknown = "no.such.setting"
	for _, scope := range []driver.Scope{driver.ClientScope, driver.TopicScope} {
		_, err := driver.Decode(r.suite.Kind.Settings, scope, map[string]any{unknown: 1})
		var refusal *driver.ErrUnsupported
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Setting, unknown) {
			t.Errorf("%s setting %q: %v; want an ErrUnsupported that names it", scope, unknown, err)
		}
	}
}

func (r *run) guaranteesAreAnswered(t *testing.T) {
	for _, c := range r.suite.Kind.Matrix() {
		if c.Refusal != nil {
			requireRefusal(t, c.Guarantee, c.Refusal)
		}
	}
	for _, g := range r.suite.Guarantees {
		if err := r.suite.Kind.Supports(g); err != nil {
			t.Errorf("the guarantee to exercise, %+v, is refused: %v", g, err)
		}
	}
}

func requireRefusal(t *testing.T, g driver.Guarantee, err error) {
	t.Helper()
	refusal, ok := errors.AsType[*driver.ErrUnsupported](err)
	if !ok {
		t.Errorf("%+v: %v; want an ErrUnsupported", g, err)
	} else if refusal.Setting == "" || refusal.Reason == "" {
		t.Errorf("%+v: the refusal %q lacks a setting or a reason", g, err)
	}
}

// refused reports whether err refuses a setting or guarantee.
func refused(err error) bool {
	_, ok := errors.AsType[*driver.ErrUnsupported](err)
	return ok
}

// refusalsHold asks the running broker for one refused guarantee per delivery and persistence. The driver must refuse each of
// them there too: otherwise a caller that didn't call Supports would measure a weaker guarantee.
func (r *run) refusalsHold(t *testing.T) {
	asked := map[driver.Guarantee]bool{}
	for _, c := range r.suite.Kind.Matrix() {
		g := c.Guarantee
		key := driver.Guarantee{Delivery: g.Delivery, Persistence: g.Persistence}
		if c.Refusal == nil || asked[key] {
			continue
		}
		asked[key] = true
		if err := r.openAndSetUp(t, g, newTopology(shape{topics: 1, subscriptions: 1})); err != nil {
			requireRefusal(t, g, err)
		} else {
			t.Errorf("%+v is refused by Supports, but Open and Setup accepted it", g)
		}
	}
	if len(asked) == 0 {
		testkit.Without(t, "this driver refuses no guarantee")
	}
}

func (r *run) openAndSetUp(t *testing.T, g driver.Guarantee, topology driver.Topology) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	drv, err := r.suite.Kind.Open(ctx, r.config(t, g, r.target))
	if err != nil {
		return err
	}
	err = drv.Setup(ctx, topology)
	if cerr := drv.Close(); cerr != nil {
		t.Errorf("closing the driver after a refusal: %v", cerr)
	}
	return err
}

func (r *run) deadAddressFails(t *testing.T) {
	dead := r.suite.Dead
	if dead == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		dead = l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.openingFails(t, driver.Target{Addresses: []string{dead}}); !strings.Contains(err.Error(), dead) {
		t.Errorf("opening %s failed with %q, which doesn't name the address", dead, err)
	}
}

// openingFails requires Open to fail within the bound, and returns its error.
func (r *run) openingFails(t *testing.T, to driver.Target) error {
	t.Helper()
	cfg := r.config(t, r.suite.Guarantees[0], to)
	failed, err := returns(openBound, func() error {
		drv, err := r.suite.Kind.Open(context.Background(), cfg)
		if err == nil {
			_ = drv.Close()
		}
		return err
	})
	switch {
	case !failed:
		t.Fatalf("opening %v had not failed after %v", to.Addresses, openBound)
	case err == nil:
		t.Fatalf("opening %v succeeded", to.Addresses)
	}
	return err
}
