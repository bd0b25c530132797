package natsstreaming_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// former is what a server of version 0.17.0 for g is started with.
func former(t *testing.T, g driver.Guarantee) provision.Options {
	t.Helper()
	o := server(t, g, nil)
	o.Version = "0.17.0"
	return o
}

func TestTheOldVersionServes(t *testing.T) {
	livetest.Serves(t, former(t, logged), logged, nil)
	livetest.RefusesServer(t, former(t, logged), "streaming.replace_durable", true, "version 0.17.0 doesn't know it")
}

func TestDriverKeepsThePromisesOnTheOldVersion(t *testing.T) {
	testkit.Long(t)
	s := livetest.Suite(t, former(t, synced), synced)
	s.Guarded = livetest.GuardedBroker(former(t, logged))
	drivertest.Run(t, s)
}
