package natsstreaming_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
)

func TestAFullChannelReadsAsWhatItDrops(t *testing.T) {
	const limit = "streaming.store_limits.max_msgs"
	_, target := livetest.Start(t, server(t, memory, map[string]any{limit: 100}))
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "nats-streaming")}, target, memory, drivertest.Limit{Name: limit, Full: drivertest.DropsOldest})
}
