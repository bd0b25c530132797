package redis_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/matrixtest"
)

func TestEveryGuaranteeThatIsKeptIsProved(t *testing.T) {
	matrixtest.Prove(t, matrixtest.Matrix{Broker: "redis", Apart: true})
}

func TestEveryGuaranteeOfPubSubIsProved(t *testing.T) {
	matrixtest.Prove(t, matrixtest.Matrix{Broker: "redis-pubsub"})
}
