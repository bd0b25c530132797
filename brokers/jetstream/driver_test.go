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

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	s := livetest.Tuned(t, provision.Options{Broker: "jetstream"}, memoryLeast, exactlyOnce)
	s.Client["AckWait"] = "2s"
	drivertest.Run(t, s)
}

// Each way of consuming owes the same as the usual one.
func TestDriverKeepsThePromisesHoweverItConsumes(t *testing.T) {
	testkit.Long(t)
	unordered, logged := fileLeast, memoryOnce
	unordered.Ordering, logged.Persistence = driver.Unordered, driver.Log
	for name, c := range map[string]struct {
		client     map[string]any
		guarantees []driver.Guarantee
		consumers  int
	}{
		"batches":           {map[string]any{"consume": "fetch"}, []driver.Guarantee{memoryOnce, fileLeast, exactlyOnce}, 2},
		"batches, by bytes": {map[string]any{"consume": "fetch", "PullMaxBytes": 100_000, "mode": driver.Stock}, []driver.Guarantee{unordered}, 2},
		"AckPolicy all":     {map[string]any{"AckPolicy": "all"}, []driver.Guarantee{memoryLeast, fileLeast, unordered}, 1},
		"all, batches":      {map[string]any{"AckPolicy": "all", "consume": "fetch"}, []driver.Guarantee{unordered}, 1},
		"ordered":           {map[string]any{"consumer": "ordered"}, []driver.Guarantee{memoryOnce, logged}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := livetest.Suite(t, provision.Options{Broker: "jetstream"}, c.guarantees...)
			s.Client, s.Consumers = c.client, c.consumers
			if c.client["consumer"] != "ordered" {
				s.Client["AckWait"] = "2s"
			}
			drivertest.Run(t, s)
		})
	}
}

func TestDriverKeepsThePromises(t *testing.T) {
	s := livetest.Suite(t, provision.Options{Broker: "jetstream", Server: map[string]any{"jetstream.sync_interval": "always"}},
		memoryOnce, memoryLeast, fileLeast, exactlyOnce, synced)
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "jetstream"})
	s.Client = map[string]any{"AckWait": "2s"} // what was on its way to a consumer when the server died comes again after that
	drivertest.Run(t, s)
}

func TestWhatTheClientDropsIsReported(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	once := livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered) // nothing comes again
	ahead := map[string]any{"PullMaxMessages": 100_000}                                           // more than the 64 MB that the client keeps
	drivertest.Overflows(t, drivertest.Suite{Kind: livetest.Kind(t, "jetstream")}, target, once, ahead, 60_000)
}
