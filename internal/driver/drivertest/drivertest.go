// Package drivertest is the driver contract as a test suite: every driver has to pass it against a running broker. It knows the
// contract and no particular broker.
package drivertest

import (
	"io"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// Suite describes the driver and the broker under test.
type Suite struct {
	Kind driver.Kind
	// Target returns a running broker. It is called once, after the promises that need no broker were checked; it ends a broker
	// started for the test with t.Cleanup.
	Target func(t *testing.T) driver.Target
	// Guarantees are exercised one after the other; at least one at-most-once or at-least-once. Kind must support them.
	Guarantees []driver.Guarantee
	// Client and Topic are native settings for every session; usually nil, the defaults.
	Client, Topic map[string]any
	// Bulk is the number of messages that each of two producers sends in the delivery test; 0 means 1,000.
	Bulk int
	// Consumers is the number of consumers of each subscription in the delivery test; 0 means 2. Set it to 1 only for a broker
	// whose subscriptions can't be shared.
	Consumers int
	// QueuedInBatches reports that the broker's queue length counts a batch of a producer as one message.
	QueuedInBatches bool
	// Pause and Resume freeze and thaw the broker (SIGSTOP, SIGCONT). Without them those promises are skipped.
	Pause, Resume func(t *testing.T)
	// Restart kills the broker (SIGKILL), starts it again with its stored data, and returns when it is ready. Without it those
	// promises are skipped.
	Restart func(t *testing.T)
	// Keeps reports whether the broker still has a message after Restart that it acknowledged under g. Nil: everything but Memory is kept.
	Keeps func(g driver.Guarantee) bool
	// StoredApart is the size in bytes from which the broker stores messages separately from smaller ones, so that it may lose
	// one kind but not the other on Restart: order is then checked within each kind. 0: it stores all alike.
	StoredApart int
	// Kill kills the broker (SIGKILL). It is called in the last test. Nil: skipped.
	Kill func(t *testing.T)
	// Guarded returns a broker that requires TLS, a client certificate and a login; its target has all three. Nil: those promises
	// are skipped.
	Guarded func(t *testing.T) driver.Target
	// Cost reads what the broker of Target has used. Nil: skipped.
	Cost func(t *testing.T) Cost
	// Lingers are functions of the client library whose goroutines end by themselves, but later than a test waits.
	Lingers []string
	// Dead is an address where no broker answers; empty: an unused port of 127.0.0.1.
	Dead string
}

type run struct {
	suite  Suite
	target driver.Target
	log    io.Writer // nil: the clients' log is dropped
	*terminal
}

// Run checks every promise as a subtest named after it.
func Run(t *testing.T, s Suite) {
	if s.Target == nil || len(s.Guarantees) == 0 {
		t.Fatal("drivertest: the suite needs a target and a guarantee")
	}
	if s.Bulk == 0 {
		s.Bulk = 1000
	}
	if s.Consumers == 0 {
		s.Consumers = 2
	}
	if s.Keeps == nil {
		s.Keeps = func(g driver.Guarantee) bool { return g.Persistence != driver.Memory }
	}
	r := &run{suite: s}
	t.Run("every setting is documented and has a default that decodes", r.settingsAreComplete)
	t.Run("an unknown setting is refused by name", r.unknownSettingIsRefused)
	t.Run("every guarantee is supported or refused by name", r.guaranteesAreAnswered)
	t.Run("opening a dead address fails soon and says so", r.deadAddressFails)
	r.terminal = overhear(t)
	r.target = s.Target(t)
	t.Run("what Supports refuses is refused by Open or Setup too", r.refusalsHold)
	t.Run("what is not refused before is accepted by the broker", r.whatFitsIsAccepted)
	t.Run("a broker that was attached says what it is", r.described)
	for _, g := range s.Guarantees {
		t.Run(label(g), func(t *testing.T) {
			var before Cost
			if s.Cost != nil {
				before = s.Cost(t)
			}
			t.Run("delivery", func(t *testing.T) { r.delivery(t, g) })
			t.Run("producers made again", func(t *testing.T) { r.producersMadeAgain(t, g) })
			t.Run("cleaned", func(t *testing.T) { r.cleaned(t, g) })
			t.Run("paused broker", func(t *testing.T) { r.pausedBroker(t, g) })
			if s.Cost != nil {
				t.Run("what it costs is metered", func(t *testing.T) { r.requireCost(t, g, before) })
			}
		})
	}
	t.Run("topologies", r.topologies)
	t.Run("cut connections", r.cutConnections)
	t.Run("restarted broker", r.restartedBroker)
	t.Run("guarded broker", r.guardedBroker)
	t.Run("killed broker", r.killedBroker)
}

func label(g driver.Guarantee) string {
	return string(g.Delivery) + " " + string(g.Persistence) + " " + string(g.Ordering)
}
