package amqp10

import (
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestAMessageKeepsItsIdentityWhenItIsSentAgain(t *testing.T) {
	i := newIdentities(2)
	i.enter([]driver.Message{{Slot: 0}, {Slot: 1}})
	first, other := i.of(0), i.of(1)
	i.enter([]driver.Message{{Slot: 0, Resent: true}, {Slot: 1}})
	again, next := i.of(0), i.of(1)
	if first != again || first == other || next == first || next == other {
		t.Errorf("%s, %s, again %s, next %s", first, other, again, next)
	}
	if another := newIdentities(2); another.producer == i.producer {
		t.Errorf("two producers are called %s", i.producer)
	}
}
