package mosquitto_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestATopicThatOthersUseStaysAsItIs(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto"})
	drivertest.Found(t, drivertest.Suite{Kind: livetest.Kind(t, "mosquitto")}, target, least, nil)
}
