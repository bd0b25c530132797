package amqp10

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/spans"
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

func TestAnIdentityIsDeliveredOnceByTheConsumersOfASubscription(t *testing.T) {
	s := &seen{numbers: map[string]*spans.Set{}}
	for _, c := range []struct {
		identity any
		first    bool
	}{{"a.1-1", true}, {"a.1-2", true}, {"a.2-1", true}, {"a.1-1", false}, {nil, true}, {nil, true}, {"somebody's", true}, {"somebody's", true}} {
		if got := s.first(c.identity); got != c.first {
			t.Errorf("%v comes for the first time: %v, want %v", c.identity, got, c.first)
		}
	}
}
