package mosquitto_test

import (
	"testing"

	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestAFullSessionReadsAsWhatItDrops(t *testing.T) {
	_, target := started(t, provision.Options{Server: map[string]any{"max_queued_messages": 100}})
	drivertest.Limits(t, drivertest.Suite{Kind: kind(t)}, target, least, drivertest.Limit{Name: "max_queued_messages", Full: drivertest.DropsNewest})
}
