package rabbitmqstream

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/rabbitserver/rabbittest"
)

func TestWhatAUserMayNotDoIsSaidInTheBrokersWords(t *testing.T) {
	rabbittest.WithoutWrite(t, "rabbitmq-stream", "^$", "Access Refused", logged, fast)
}
