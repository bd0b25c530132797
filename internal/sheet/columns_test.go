package sheet

import (
	"math"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
)

// A run of 2 s in which the broker was busy, and 18 s of drain in which it did nothing more.
func TestProcessorSharesAreThoseOfTheMeasuredPhase(t *testing.T) {
	r := store.Record{Result: &store.Result{Measurement: store.Measurement{Seconds: 2, Cost: store.Cost{
		BrokerKnown: true, BrokerUserSeconds: 1.5, BrokerSystemSeconds: 0.5, GeneratorUserSeconds: 0.5, GeneratorSystemSeconds: 0.3,
		Seconds: 20, Messages: 1000, Shares: &store.Shares{Seconds: 2, Broker: 1, BrokerUser: 0.75, BrokerSystem: 0.25, Generator: 0.4},
	}}}}
	r.Host.Cores = 2
	user, system := brokerUserPercent(r), brokerSystemPercent(r)
	if user != 37.5 || system != 12.5 || generatorPercent(r) != 20 {
		t.Errorf("user %v, system %v, generator %v %%; want 37.5, 12.5 and 20", user, system, generatorPercent(r))
	}
	r.Result.Cost.Shares = nil // the phase was too short
	if user, generator := brokerUserPercent(r), generatorPercent(r); user != 3.75 || math.Abs(generator-2) > 1e-9 {
		t.Errorf("without shares: user %v, generator %v %%; want 3.75 and 2", user, generator)
	}
	r.Result.Cost.BrokerKnown = false
	if user := brokerUserPercent(r); !math.IsNaN(user) {
		t.Errorf("a broker that nobody metered used %v %%", user)
	}
}

// The measured phase divided user from system otherwise than the drain: 0.9 and 0.1 of a core, where the whole cost has 1.5 and 0.5 s.
func TestTheBrokersUserAndSystemTimeAreThoseOfTheMeasuredPhase(t *testing.T) {
	r := store.Record{Result: &store.Result{Measurement: store.Measurement{Cost: store.Cost{
		BrokerKnown: true, Messages: 1000, BrokerUserSeconds: 1.5, BrokerSystemSeconds: 0.5,
		Shares: &store.Shares{Seconds: 2, Broker: 1, BrokerUser: 0.9, BrokerSystem: 0.1},
	}}}}
	r.Host.Cores = 2
	if user, system := brokerUserPercent(r), brokerSystemPercent(r); math.Abs(user-45) > 1e-9 || math.Abs(system-5) > 1e-9 {
		t.Errorf("user %.1f %%, system %.1f %%; want 45 and 5", user, system)
	}
}
