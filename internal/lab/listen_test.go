package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestATrialListensOnOnlyWhereNothingMayComeTwiceAfterAFault(t *testing.T) {
	faults := []study.Fault{{Do: "kill"}}
	for name, c := range map[string]struct {
		delivery   string
		faults     []study.Fault
		brisk      bool
		redelivery time.Duration
		listen     time.Duration
		looks      bool
	}{
		"exactly once":             {delivery: "exactly-once", faults: faults, redelivery: 30 * time.Second, listen: 31 * time.Second, looks: true},
		"at most once":             {delivery: "at-most-once", faults: faults, redelivery: 2 * time.Second, listen: 3 * time.Second, looks: true},
		"longer than is bearable":  {delivery: "exactly-once", faults: faults, redelivery: 30 * time.Minute, listen: time.Minute, looks: true},
		"only with the connection": {delivery: "exactly-once", faults: faults, looks: true},
		"no faults":                {delivery: "exactly-once", redelivery: 30 * time.Second},
		"duplicates are allowed":   {delivery: "at-least-once", faults: faults, redelivery: 30 * time.Second},
		"a search or a warm-up":    {delivery: "exactly-once", faults: faults, redelivery: 30 * time.Second, brisk: true},
	} {
		b := &bench{spec: study.Spec{Delivery: c.delivery, Faults: c.faults}, redelivery: c.redelivery}
		if listen, looks := b.listenFor(worker.Load{Brisk: c.brisk}); listen != c.listen || looks != c.looks {
			t.Errorf("%s: listens for %v, %v; want %v, %v", name, listen, looks, c.listen, c.looks)
		}
	}
}
