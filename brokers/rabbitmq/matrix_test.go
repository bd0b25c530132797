package rabbitmq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/matrixtest"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestEveryGuaranteeThatIsKeptIsProved(t *testing.T) {
	testkit.Long(t)
	matrixtest.Prove(t, matrixtest.Matrix{Broker: "rabbitmq"})
}
