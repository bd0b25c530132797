package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
)

// The client refuses the guarantee, so the broker was not asked.
func TestSettingsOfABrokerThatWasNotAskedAreNotKnown(t *testing.T) {
	b := &bench{spec: study.Spec{Broker: "sim"}}
	_, unreported, err := b.describe(t.Context(), driver.Config{Guarantee: driver.Guarantee{Delivery: "twice"}})
	if err != nil || unreported == "" {
		t.Errorf("%q, %v; want that the settings are not known", unreported, err)
	}
}
