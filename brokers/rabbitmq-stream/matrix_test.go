package rabbitmqstream

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/matrixtest"
)

func TestEveryGuaranteeThatIsKeptIsProved(t *testing.T) {
	matrixtest.Prove(t, matrixtest.Matrix{Broker: "rabbitmq-stream"})
}
