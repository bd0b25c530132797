package redis_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	_ "github.com/brokermark/brokermark/brokers/redis"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var (
	once   = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered)
	memory = livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Ordered)
	logged = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	synced = livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered)
	copied = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 3, Acks: driver.AcksQuorum, Ordering: driver.Ordered}
)

func TestDriverKeepsThePromisesOnEveryVersion(t *testing.T) {
	for i, version := range []string{"8.0.2", "valkey-8.1.1", "7.0.15"} {
		t.Run(version, func(t *testing.T) {
			if i > 0 {
				testkit.Long(t)
			}
			s := livetest.Suite(t, provision.Options{Broker: "redis", Version: version}, once, memory, logged, synced)
			if i == 0 {
				s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "redis"})
			}
			drivertest.Run(t, s)
		})
	}
}

func TestDriverKeepsThePromisesOverTLSWithTwoReplicas(t *testing.T) {
	drivertest.Run(t, livetest.Suite(t, provision.Options{Broker: "redis", Nodes: 3, TLS: true}, copied))
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	drivertest.Run(t, livetest.Tuned(t, provision.Options{Broker: "redis"}, once, memory))
}

func TestPubSubKeepsThePromisesWithTheTunedClient(t *testing.T) {
	testkit.Long(t)
	s := livetest.Tuned(t, provision.Options{Broker: "redis-pubsub"}, once)
	s.Consumers = 1
	drivertest.Run(t, s)
}

func TestPubSubKeepsThePromises(t *testing.T) {
	s := livetest.Suite(t, provision.Options{Broker: "redis-pubsub"}, once)
	s.Consumers = 1
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "redis-pubsub"})
	drivertest.Run(t, s)
}
