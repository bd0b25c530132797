package rabbitmqstream

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/rabbitserver/rabbittest"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestWhatAUserMayNotDoIsSaidInTheBrokersWords(t *testing.T) {
	testkit.Long(t)
	rabbittest.WithoutWrite(t, "rabbitmq-stream", "^$", "Access Refused", logged, fast)
}
