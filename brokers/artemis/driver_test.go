package artemis

import (
	"os"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main()
	os.Exit(m.Run())
}

func TestDriverKeepsThePromises(t *testing.T) {
	amqptest.Conformance(t, provision.Options{Broker: "artemis"}, amqptest.Fast, amqptest.Memory, amqptest.Synced, amqptest.Ordered)
}

func TestDriverKeepsThePromisesOnAnOlderVersion(t *testing.T) {
	livetest.Long(t)
	amqptest.Conformance(t, provision.Options{Broker: "artemis", Version: "2.40.0"}, amqptest.Ordered)
}
