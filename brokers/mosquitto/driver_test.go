package mosquitto_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	_ "github.com/brokermark/brokermark/brokers/mosquitto"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var (
	once    = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered)
	least   = livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Ordered)
	exactly = livetest.Guarantee(driver.ExactlyOnce, driver.Memory, driver.AcksLeader, driver.Ordered)
)

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	s := livetest.Tuned(t, provision.Options{Broker: "mosquitto"}, least, once, exactly)
	s.Keeps = func(driver.Guarantee) bool { return false }
	drivertest.Run(t, s)
}

func TestDriverKeepsThePromisesOnEveryVersion(t *testing.T) {
	for i, version := range []string{"2.0.21", "2.0.11"} {
		guarantees := [][]driver.Guarantee{{least, once}, {exactly}}[i]
		t.Run(version, func(t *testing.T) {
			s := livetest.Suite(t, provision.Options{Broker: "mosquitto", Version: version}, guarantees...)
			// What waits in the server goes with its memory; but what it could not acknowledge is sent again.
			s.Keeps = func(driver.Guarantee) bool { return false }
			if i == 1 {
				s.Client = map[string]any{"mode": driver.Tuned} // the stock library can't keep exactly once
			}
			if i == 0 {
				s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "mosquitto"})
			}
			drivertest.Run(t, s)
		})
	}
}
