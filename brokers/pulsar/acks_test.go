package pulsar

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestConsumersChooseWhenTheyAcknowledge(t *testing.T) {
	once := livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksLeader, driver.Unordered)
	least := livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Unordered)
	livetest.ConsumersChooseWhenTheyAcknowledge(t, provision.Options{Broker: "pulsar"}, once, least, map[string]any{"ackGroupingTime": "0s"})
}

func TestDriverKeepsThePromisesWithManualAcknowledgementsAtMostOnce(t *testing.T) {
	s := livetest.Suite(t, provision.Options{Broker: "pulsar"}, livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksLeader, driver.Ordered))
	s.Client = map[string]any{"consumer.ack": driver.AckAfter}
	s.Restart, s.Kill, s.Pause, s.Cost = nil, nil, nil, nil
	s.Bulk = 300
	drivertest.Run(t, s)
}
