package pulsar

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/matrixtest"
)

func TestEveryGuaranteeOfTheMatrixIsProved(t *testing.T) {
	livetest.Long(t)
	matrixtest.Prove(t, matrixtest.Matrix{Broker: "pulsar", Server: small(nil)})
}
