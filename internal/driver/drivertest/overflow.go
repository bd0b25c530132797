package drivertest

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Overflows stalls a consumer while more messages come than its client library buffers, and requires the driver to report exactly
// the number of messages that the library dropped: sent = received + dropped. client are the settings of a small buffer, and
// under g dropped messages must not come again.
func Overflows(t *testing.T, s Suite, target driver.Target, g driver.Guarantee, client map[string]any, messages int) {
	r := &run{suite: s, target: target}
	r.suite.Client = client
	session := r.open(t, g, shape{topics: 1, subscriptions: 1, consumers: 1})
	session.requireDropper(t, s.Kind)
	dropper, ok := session.drv.(driver.Dropper)
	if !ok {
		t.Fatal("the driver reports nothing of what its client library drops")
	}
	received, p := session.tallies[0][0], session.newSender(t, 0, 0)
	received.mu.Lock() // blocks Deliver
	p.deliver(t, messages)
	overflowed := eventually(patience, func() bool { return dropper.Dropped() > 0 })
	received.mu.Unlock()
	if !overflowed {
		t.Errorf("%d messages came to a consumer that read none of them, and none was dropped", messages)
	}
	sum := func() int64 { return int64(received.received()) + dropper.Dropped() }
	eventually(patience, func() bool { return sum() >= int64(messages) })
	time.Sleep(quiet) // dropped messages must not arrive after all
	t.Logf("sent %d, received %d, dropped %d", messages, received.received(), dropper.Dropped())
	if got := sum(); got != int64(messages) {
		t.Errorf("%d messages were received or dropped; %d were sent", got, messages)
	}
	p.close(t, true)
	session.close(t, true)
	session.reportTallies(t)
}

// requireDropper requires a driver to report drops if, and only if, its kind names the setting that bounds the client's buffer.
func (s *session) requireDropper(t *testing.T, k driver.Kind) {
	t.Helper()
	if _, reports := s.drv.(driver.Dropper); reports != (k.Drops != "") {
		t.Errorf("Kind.Drops is %q, and the driver being a driver.Dropper is %v", k.Drops, reports)
	}
}
