package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/worker"
)

func TestABrokerThatHoldsProducersBackIsTheLimit(t *testing.T) {
	b := &bench{lab: &lab{options: Options{}.withDefaults()}}
	for held, want := range map[time.Duration]string{20 * time.Millisecond: "", 100 * time.Millisecond: limitBroker} {
		out := worker.Outcome{From: int64(time.Second), Until: int64(2 * time.Second), Held: held, HeldWhy: "connection.blocked: low on disk"}
		one := trial{Outcome: out}
		if got := b.bottleneckOf(one).limits().Cause(); got != want {
			t.Errorf("held for %v of a second: the limit is %s, want %s", held, got, want)
		}
		if text := one.heldText().Text; want == limitBroker && text != "the broker itself held a producer back for 10 % of the time (connection.blocked: low on disk)" {
			t.Error(text)
		}
	}
}
