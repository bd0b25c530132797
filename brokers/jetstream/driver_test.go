package jetstream_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	_ "github.com/brokermark/brokermark/brokers/jetstream"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var (
	memoryOnce  = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered)
	memoryLeast = livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Ordered)
	fileLeast   = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	exactlyOnce = livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksLeader, driver.Unordered)
	synced      = livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Ordered)
)

func TestTheStockLibraryKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	s := livetest.Stock(t, provision.Options{Broker: "jetstream"}, memoryLeast, exactlyOnce)
	s.Client["AckWait"] = "2s"
	drivertest.Run(t, s)
}

func TestDriverKeepsThePromises(t *testing.T) {
	s := livetest.Suite(t, provision.Options{Broker: "jetstream", Server: map[string]any{"jetstream.sync_interval": "always"}},
		memoryOnce, memoryLeast, fileLeast, exactlyOnce, synced)
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "jetstream"})
	s.Client = map[string]any{"AckWait": "2s"} // what was on its way to a consumer when the server died comes again after that
	drivertest.Run(t, s)
}
