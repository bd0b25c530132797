package artemis

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

func TestDriverKeepsThePromises(t *testing.T) {
	s := livetest.Suite(t, provision.Options{Broker: "artemis"}, amqptest.Fast, amqptest.Memory, amqptest.Synced, amqptest.Ordered)
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "artemis"})
	drivertest.Run(t, s)
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, livetest.Tuned(t, provision.Options{Broker: "artemis"}, amqptest.Fast, amqptest.Ordered))
}

func TestDriverKeepsThePromisesOnAnOlderVersion(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, livetest.Suite(t, provision.Options{Broker: "artemis", Version: "2.40.0"}, amqptest.Ordered))
}

func TestExactlyOnceKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	exactly := amqptest.Ordered
	exactly.Delivery = driver.ExactlyOnce
	drivertest.Run(t, livetest.Suite(t, provision.Options{Broker: "artemis"}, exactly))
}

func TestExactlyOnceIsRefusedWhereTheBrokerForgets(t *testing.T) {
	kind := livetest.Kind(t, "artemis")
	exactly := amqptest.Ordered
	exactly.Delivery = driver.ExactlyOnce
	refusal := func(name string, value any, inFlight int) error {
		server := map[string]any{}
		if name != "" {
			server[name] = value
		}
		target := driver.Target{Version: "2.56.0", Addresses: []string{"127.0.0.1:1"}, Server: server}
		return kind.Refusal(livetest.Config(t, "artemis", target, exactly, nil, nil), driver.Shape{Topics: 1, Producers: 2, InFlight: inFlight})
	}
	livetest.Must(t, refusal("", nil, 10_000))
	for name, value := range map[string]any{"acceptor.amqpDuplicateDetection": false, "persist-id-cache": false, "journal-sync-transactional": "false", "id-cache-size": 100} {
		livetest.Refused(t, refusal(name, value, 100), "delivery: exactly-once")
	}
	livetest.Refused(t, refusal("", nil, 10_001), "delivery: exactly-once")
}
