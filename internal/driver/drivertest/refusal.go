package drivertest

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
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

// everyGuarantee is the cross product of all words, with 1 and 3 replicas.
func everyGuarantee() []driver.Guarantee {
	var all []driver.Guarantee
	for _, d := range []driver.Delivery{driver.AtMostOnce, driver.AtLeastOnce, driver.ExactlyOnce} {
		for _, p := range []driver.Persistence{driver.Memory, driver.Log, driver.Fsync} {
			for _, a := range []driver.Acks{driver.AcksNone, driver.AcksLeader, driver.AcksQuorum} {
				for _, o := range []driver.Ordering{driver.Ordered, driver.Unordered} {
					for _, n := range []int{1, 3} {
						all = append(all, driver.Guarantee{Delivery: d, Persistence: p, Acks: a, Ordering: o, Replicas: n})
					}
				}
			}
		}
	}
	return all
}

func (r *run) guaranteesAreAnswered(t *testing.T) {
	for _, g := range everyGuarantee() {
		if err := r.suite.Kind.Supports(g); err != nil {
			requireRefusal(t, g, err)
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
	var refusal *driver.ErrUnsupported
	if !errors.As(err, &refusal) {
		t.Errorf("%+v: %v; want an ErrUnsupported", g, err)
		return
	}
	if refusal.Setting == "" || refusal.Reason == "" {
		t.Errorf("%+v: the refusal %q lacks a setting or a reason", g, err)
	}
}

// refusalsHold asks the running broker for one refused guarantee per delivery and persistence: each must be refused
// there too, or else a caller that didn't ask Supports would measure a weaker guarantee.
func (r *run) refusalsHold(t *testing.T) {
	type words struct {
		driver.Delivery
		driver.Persistence
	}
	asked := map[words]bool{}
	for _, g := range everyGuarantee() {
		key := words{g.Delivery, g.Persistence}
		if r.suite.Kind.Supports(g) == nil || asked[key] {
			continue
		}
		asked[key] = true
		err := r.openAndSetUp(t, g)
		if err == nil {
			t.Errorf("%+v is refused by Supports, but Open and Setup accepted it", g)
			continue
		}
		requireRefusal(t, g, err)
	}
	if len(asked) == 0 {
		t.Skip("this driver refuses no guarantee")
	}
}

func (r *run) openAndSetUp(t *testing.T, g driver.Guarantee) error {
	t.Helper()
	return r.openAndSetUpAs(t, g, shape{topics: 1, subscriptions: 1})
}

func (r *run) openAndSetUpAs(t *testing.T, g driver.Guarantee, sh shape) error {
	t.Helper()
	return r.openAndSetUpThis(t, g, newTopology(sh))
}

func (r *run) openAndSetUpThis(t *testing.T, g driver.Guarantee, topology driver.Topology) error {
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
	cfg := r.config(t, r.suite.Guarantees[0], driver.Target{Addresses: []string{dead}})
	failed := make(chan error, 1)
	go func() {
		drv, err := r.suite.Kind.Open(context.Background(), cfg)
		if err == nil {
			_ = drv.Close()
		}
		failed <- err
	}()
	select {
	case err := <-failed:
		if err == nil {
			t.Errorf("opening %s, where nobody listens, succeeded", dead)
		} else if !strings.Contains(err.Error(), dead) {
			t.Errorf("opening %s failed with %q, which doesn't name the address", dead, err)
		}
	case <-time.After(openBound):
		t.Errorf("opening %s, where nobody listens, had not failed after %v", dead, openBound)
	}
}
