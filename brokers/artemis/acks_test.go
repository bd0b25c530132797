package artemis

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestConsumersAcknowledgeBeforeTheirWorkAtMostOnce(t *testing.T) {
	testkit.Long(t)
	livetest.ConsumersAcknowledge(t, provision.Options{Broker: "artemis"}, amqptest.Fast, amqptest.Memory, nil, driver.AckBefore)
}

func TestAtMostOnceIsRefusedWithManualAcknowledgements(t *testing.T) {
	kind := livetest.Kind(t, "artemis")
	shape := driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1, MaxBytes: 100, InFlight: 10}
	for when, refused := range map[string]bool{driver.AckBefore: false, driver.AckAfter: true} {
		c := livetest.Config(t, "artemis", driver.Target{}, amqptest.Fast, map[string]any{"consumer.ack": when}, nil)
		if err := kind.Refusal(c, shape); (err != nil) != refused {
			t.Errorf("consumer.ack: %s: %v", when, err)
		}
	}
}
