package lab_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/redis"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Consumers in a process of their own reach an attached broker and count the same. Their process runs as another user, who can't read
// the certificates' files; it gets their text.
func TestConsumersApartReachAnAttachedBroker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start provision.Options
		spec  func(t *testing.T, s *study.Spec, in *provision.Instance)
	}{
		"nats": {start: provision.Options{Broker: "nats"}},
		"redis": {start: provision.Options{Broker: "redis"}, spec: func(_ *testing.T, s *study.Spec, _ *provision.Instance) {
			s.Broker, s.Delivery, s.Acks = "redis", "at-least-once", "leader"
		}},
		"nats with certificates that only their user may read": {
			start: provision.Options{Broker: "nats", TLS: true, Mutual: true},
			spec: func(t *testing.T, s *study.Spec, in *provision.Instance) {
				f := in.TLSFiles()
				s.TLS, s.CAFile, s.CertFile, s.KeyFile = study.TLSMutual, private(t, f.CA), private(t, f.ClientCert), private(t, f.ClientKey)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			if c.start.Broker == "redis" {
				h = sharedHost(t)
			}
			in, err := h.Start(t.Context(), c.start)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Stop(t.Context()) }()
			r := runPoint(t, natsSpec(func(s *study.Spec) {
				s.Attach, s.ConsumersApart = in.Addresses(), true
				s.SubscriptionsPerTopic, s.ConsumerPerSubscription = 2, study.Consumers{2}
				if c.spec != nil {
					c.spec(t, s, in)
				}
				setRate(s, 2000, time.Second)
			}), lab.Options{Host: h})
			if r.Status != store.OK || !hasDoubt(r, "attached") {
				t.Fatalf("%s: %s, doubts %+v", r.Status, r.Reason, r.Doubts)
			}
			if r.Versions.Broker != in.Version() || r.Versions.Product == "" || r.Settings.Server == nil {
				t.Errorf("the record has versions %+v and settings %v; the broker is %s", r.Versions, r.Settings.Server, in.Version())
			}
			if b := r.Result.Books; b.Due != 2000 || b.Received != 4000 || b.Lost+b.Duplicated+b.Corrupted != 0 || !b.Balanced() {
				t.Errorf("%+v", b)
			}
			if cost := r.Result.Cost; !cost.BrokerKnown || cost.BrokerUserSeconds+cost.BrokerSystemSeconds <= 0 {
				t.Errorf("the broker's cost: %+v", cost)
			}
			checkSides(t, r, true)
			if running := h.Running(); len(running) != 1 || running[0].Broker != c.start.Broker {
				t.Errorf("%d processes run beside the broker", len(running))
			}
		})
	}
}

func TestConsumersApartOfAnAttachedBrokerThatIsNotThereFail(t *testing.T) {
	h := newHost(t)
	r := runPoint(t, natsSpec(func(s *study.Spec) { s.Attach, s.ConsumersApart = []string{"127.0.0.1:1"}, true }), lab.Options{Host: h})
	if r.Status != store.Failed || r.Result != nil {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	checkNothingLeft(t, h)
}

// private copies a file to where only its user may read it.
func private(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
