package qpid

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
)

func limits(t *testing.T, target driver.Target) {
	full := func(policy string) map[string]any {
		return map[string]any{"maximumQueueDepthMessages": 100, "overflowPolicy": policy}
	}
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "qpid")}, target, amqptest.Memory,
		drivertest.Limit{Name: "RING", Topic: full("RING"), Keeps: 100, Full: drivertest.DropsOldest},
		drivertest.Limit{Name: "REJECT", Topic: full("REJECT"), Keeps: 100, Full: drivertest.Refuses})
}
