package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
)

func TestSharesOfTheProcessorAreNotToldOfAMoment(t *testing.T) {
	cost := store.Cost{GeneratorUserSeconds: 0.0001, BrokerSystemSeconds: 0.0002}
	moment := trial{Cost: cost, Window: 78 * time.Microsecond}
	if g, b := moment.generatorCPU(), moment.brokerCPU(); g != 0 || b != 0 {
		t.Errorf("over %v: %v and %v cores", moment.Window, g, b)
	}
	second := trial{Cost: store.Cost{GeneratorUserSeconds: 0.5, GeneratorSystemSeconds: 0.25, BrokerUserSeconds: 1.5}, Window: time.Second}
	if g, b := second.generatorCPU(), second.brokerCPU(); g != 0.75 || b != 1.5 {
		t.Errorf("over %v: %v and %v cores, want 0.75 and 1.5", second.Window, g, b)
	}
}
