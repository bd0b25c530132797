package mosquitto_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestAFullSessionReadsAsWhatItDrops(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto", Server: map[string]any{"max_queued_messages": 100}})
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "mosquitto")}, target, least, drivertest.Limit{Name: "max_queued_messages", Full: drivertest.DropsNewest})
}
