package rabbitmqamqp10

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver/rabbittest"
)

func TestWhatAUserMayNotDoIsSaidInTheBrokersWords(t *testing.T) {
	rabbittest.WithoutWrite(t, "rabbitmq-amqp10", "^$", "amqp:unauthorized-access", amqptest.Memory, amqptest.Fast)
}
