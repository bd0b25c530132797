package mosquitto_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/matrixtest"
)

func TestEveryGuaranteeThatIsKeptIsProved(t *testing.T) {
	matrixtest.Prove(t, matrixtest.Matrix{Broker: "mosquitto"})
}
