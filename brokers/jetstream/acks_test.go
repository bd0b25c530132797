package jetstream_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestConsumersChooseWhenTheyAcknowledge(t *testing.T) {
	once := livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Unordered)
	least := livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Unordered)
	livetest.ConsumersChooseWhenTheyAcknowledge(t, provision.Options{Broker: "jetstream"}, once, least, map[string]any{"AckWait": "1s"})
}

func TestDriverKeepsThePromisesWithManualAcknowledgementsAtMostOnce(t *testing.T) {
	testkit.Long(t)
	unordered := livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksNone, driver.Unordered)
	s := livetest.Suite(t, provision.Options{Broker: "jetstream"}, memoryOnce, unordered, memoryLeast) // exact counts are of the last
	s.Client = map[string]any{"consumer.ack": driver.AckAfter, "AckWait": "2s"}
	s.Bulk = 300
	drivertest.Run(t, s)
}

func TestMessageIdsAreRememberedNoLongerThanMessages(t *testing.T) {
	kind := livetest.Kind(t, "jetstream")
	shape := driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1, MaxBytes: 100, InFlight: 1}
	for name, c := range map[string]struct {
		topic   map[string]any
		refused bool
	}{
		"the default follows":      {map[string]any{"max_age": "1s"}, false},
		"as long":                  {map[string]any{"max_age": "1s", "duplicate_window": "1s"}, false},
		"longer than the messages": {map[string]any{"max_age": "1s", "duplicate_window": "3s"}, true},
		"without an age":           {map[string]any{"duplicate_window": "3m"}, false},
	} {
		config := driver.Config{
			Guarantee: memoryLeast, Client: livetest.Values(t, "jetstream", driver.ClientScope, nil), Topic: livetest.Values(t, "jetstream", driver.TopicScope, c.topic),
		}
		if err := kind.Refusal(config, shape); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
