package activemq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

func TestDriverKeepsThePromisesOnEveryVersion(t *testing.T) {
	testkit.Long(t) // Artemis has the same driver and its whole contract in make test; here it has the matrix
	for _, version := range []string{"6.3.1", "5.18.3", "5.15.9"} {
		t.Run(version, func(t *testing.T) {
			s := livetest.Suite(t, provision.Options{Broker: "activemq", Version: version}, amqptest.Fast, amqptest.Memory, amqptest.Synced, amqptest.Ordered)
			s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "activemq", Version: version})
			drivertest.Run(t, s)
		})
	}
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, livetest.Tuned(t, provision.Options{Broker: "activemq"}, amqptest.Fast, amqptest.Ordered))
}
