package qpid

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestConsumersChooseWhenTheyAcknowledge(t *testing.T) {
	livetest.ConsumersChooseWhenTheyAcknowledge(t, provision.Options{Broker: "qpid"}, amqptest.Fast, amqptest.Memory, nil)
}

func TestDriverKeepsThePromisesWithManualAcknowledgementsAtMostOnce(t *testing.T) {
	amqptest.ManualAcknowledgements(t, "qpid")
}
