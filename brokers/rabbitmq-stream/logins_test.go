package rabbitmqstream

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver/rabbittest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestACertificateLetsInWhomItNames(t *testing.T) {
	testkit.Long(t)
	target := rabbittest.Certified(t, "rabbitmq-stream")
	g := livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	drivertest.LogsIn(t, drivertest.Suite{Kind: livetest.Kind(t, "rabbitmq-stream"), Guarantees: []driver.Guarantee{g}}, drivertest.Way{Name: "a certificate", Target: target})
}
