package activemq

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

func TestDriverKeepsThePromisesOnEveryVersion(t *testing.T) {
	for i, version := range []string{"6.3.1", "5.18.3"} {
		t.Run(version, func(t *testing.T) {
			if i > 0 {
				livetest.Long(t)
			}
			amqptest.Conformance(t, provision.Options{Broker: "activemq", Version: version}, amqptest.Fast, amqptest.Memory, amqptest.Synced, amqptest.Ordered)
		})
	}
}
