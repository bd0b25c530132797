package activemq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestConsumersChooseWhenTheyAcknowledge(t *testing.T) {
	testkit.Long(t)
	livetest.ConsumersChooseWhenTheyAcknowledge(t, provision.Options{Broker: "activemq"}, amqptest.Fast, amqptest.Memory, nil)
}

func TestDriverKeepsThePromisesWithManualAcknowledgementsAtMostOnce(t *testing.T) {
	testkit.Long(t)
	amqptest.ManualAcknowledgements(t, "activemq")
}
