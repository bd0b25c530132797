package redis_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestAStreamOfAnotherApplicationStaysUnchanged(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "redis"})
	drivertest.Found(t, drivertest.Suite{Kind: livetest.Kind(t, "redis")}, target, memory, nil)
	t.Run("channels", func(t *testing.T) {
		g := livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Unordered)
		drivertest.Found(t, drivertest.Suite{Kind: livetest.Kind(t, "redis-pubsub")}, target, g, nil)
	})
}
