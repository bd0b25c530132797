package qpid

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
)

func limits(t *testing.T, target driver.Target) {
	ring := map[string]any{"maximumQueueDepthMessages": 100, "overflowPolicy": "RING"}
	drivertest.Limits(t, drivertest.Suite{Kind: amqptest.Kind(t, "qpid")}, target, amqptest.Memory,
		drivertest.Limit{Name: "RING", Topic: ring, Keeps: 100, Full: drivertest.DropsOldest})
}
