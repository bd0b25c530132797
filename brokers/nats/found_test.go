package natscore_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestASubjectThatOthersUseStaysAsItIs(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "nats"})
	drivertest.Found(t, drivertest.Suite{Kind: livetest.Kind(t, "nats")}, target, atMostOnce, nil)
}
