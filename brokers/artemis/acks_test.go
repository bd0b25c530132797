package artemis

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestConsumersChooseWhenTheyAcknowledge(t *testing.T) {
	livetest.ConsumersChooseWhenTheyAcknowledge(t, provision.Options{Broker: "artemis"}, amqptest.Fast, amqptest.Memory, nil)
}

func TestDriverKeepsThePromisesWithManualAcknowledgementsAtMostOnce(t *testing.T) {
	amqptest.ManualAcknowledgements(t, "artemis")
}
