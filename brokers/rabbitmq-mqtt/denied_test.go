package rabbitmqmqtt

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/rabbitserver/rabbittest"
)

func TestWhatAUserMayNotDoIsSaidInTheBrokersWords(t *testing.T) {
	rabbittest.WithoutWrite(t, "rabbitmq-mqtt", "^mqtt-subscription-", "closes each connection after the first message", least, once)
}
