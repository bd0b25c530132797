package jetstream

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestPlaceIsReadOfEveryFormOfAnAcknowledgementSubject(t *testing.T) {
	for _, reply := range []string{"", "orders", "$JS.ACK.orders.audit.1.7.3.now.0", "$JS.ACK.orders.audit.1.-7.3.1700000000000000000.0"} {
		if p, err := placeOf(reply); err == nil {
			t.Errorf("%q was read as %+v", reply, p)
		}
	}
	want := place{stream: 7, flow: 3, stored: 1700000000000000000}
	for _, reply := range []string{
		"$JS.ACK.orders.audit.1.7.3.1700000000000000000.0",
		"$JS.ACK._.account.orders.audit.1.7.3.1700000000000000000.0",
		"$JS.ACK.hub.account.orders.audit.1.7.3.1700000000000000000.0.random",
	} {
		if p, err := placeOf(reply); err != nil || p != want {
			t.Errorf("%q was read as %+v, %v; want %+v", reply, p, err, want)
		}
	}
}

func TestPlaceCostsNoAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { _, _ = placeOf("$JS.ACK.orders.audit.1.7.3.1700000000000000000.0") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCourseHoldsBackOnlyWhatIsEarly(t *testing.T) {
	for name, c := range map[string]struct {
		at   place
		want verdict
	}{
		"one is missing before it":                {place{stream: 12, flow: 12, stored: 200}, early},
		"delivered before":                        {place{stream: 10, flow: 12, stored: 100}, repeated},
		"delivered before, its flow begins again": {place{stream: 3, flow: 1, stored: 90}, repeated},
		"the next": {place{stream: 11, flow: 11, stored: 200}, due},
		"the first of a flow: those before are gone":    {place{stream: 15, flow: 1, stored: 200}, due},
		"the first of another stream of that name":      {place{stream: 1, flow: 1, stored: 200}, due},
		"one is missing in another stream of that name": {place{stream: 3, flow: 3, stored: 200}, early},
	} {
		t.Run(name, func(t *testing.T) {
			course := course{next: 11, latest: 100}
			if got := course.classify(c.at); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestSequencesOfAnotherStreamBeginAnew(t *testing.T) {
	q := sequences{}
	for i, c := range []struct {
		at   place
		want bool
	}{
		{place{stream: 1, stored: 10}, true},
		{place{stream: 3, stored: 30}, true},
		{place{stream: 3, stored: 30}, false},
		{place{stream: 1, stored: 10}, false},
		{place{stream: 1, stored: 40}, true},
		{place{stream: 3, stored: 60}, true},
		{place{stream: 2, stored: 50}, true},
		{place{stream: 2, stored: 50}, false},
	} {
		if got := q.first(c.at); got != c.want {
			t.Errorf("message %d of the test, %+v: %v, want %v", i, c.at, got, c.want)
		}
	}
}

func TestOrderAndAckPolicyAllAreRefusedWhereAConsumerCannotBeSetBack(t *testing.T) {
	refused := func(version string, policy jetstream.AckPolicy, g driver.Guarantee) bool {
		var refusal *driver.ErrUnsupported
		return errors.As(checkTracking(policy, g, version), &refusal)
	}
	inOrder, unordered := driver.Guarantee{Delivery: driver.AtLeastOnce, Ordering: driver.Ordered}, driver.Guarantee{Delivery: driver.AtLeastOnce, Ordering: driver.Unordered}
	for version, want := range map[string]bool{"": true, "x": true, "1.4.1": true, "2.10.29": true, "2.13.9": true, "2.14.0": false, "2.15.2": false, "3.0.0": false} {
		if got := refused(version, jetstream.AckExplicitPolicy, inOrder); got != want {
			t.Errorf("order on %q was refused: %v, want %v", version, got, want)
		}
		if got := refused(version, jetstream.AckAllPolicy, unordered); got != want {
			t.Errorf("AckPolicy all on %q was refused: %v, want %v", version, got, want)
		}
	}
	for _, g := range []driver.Guarantee{{Delivery: driver.AtMostOnce, Ordering: driver.Ordered}, unordered} {
		if refused("2.10.29", jetstream.AckExplicitPolicy, g) {
			t.Errorf("%+v was refused; it needs no setting back", g)
		}
	}
}
