package natsstreaming_test

import (
	"testing"

	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestAFullChannelReadsAsWhatItDrops(t *testing.T) {
	_, target := started(t, memory, provision.Options{Server: map[string]any{"streaming.store_limits.max_msgs": 100}})
	drivertest.Limits(t, drivertest.Suite{Kind: kind(t)}, target, memory, drivertest.Limit{Name: "streaming.store_limits.max_msgs", Full: drivertest.DropsOldest})
}
