package lab

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// The client refuses the guarantee, so the broker was not asked.
func TestSettingsOfABrokerThatWasNotAskedAreNotKnown(t *testing.T) {
	b := &bench{spec: study.Spec{Broker: "sim"}, record: &store.Record{}, lab: &lab{options: Options{}.withDefaults()}}
	err := b.attach(t.Context(), driver.Config{Guarantee: driver.Guarantee{Delivery: "twice"}}, nil)
	if d := b.record.Doubts; err != nil || len(d) != 1 || !strings.Contains(d[0].Text, "nor are its settings (") {
		t.Errorf("%v, %v; want that the settings are not known", d, err)
	}
}
