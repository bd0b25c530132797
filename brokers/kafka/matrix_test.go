package kafka

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/matrixtest"
)

func TestEveryGuaranteeThatIsKeptIsProved(t *testing.T) {
	matrixtest.Prove(t, matrixtest.Matrix{Broker: "kafka", Server: map[string]any{"jvm.Xmx": "400m"}})
}
