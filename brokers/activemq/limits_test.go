package activemq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestAFullStoreRefusesWhereItIsToldTo(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "activemq", Server: map[string]any{
		"storeUsage.limit": "256 kb", "kahaDB.journalMaxFileLength": "128 kb", "policy.sendFailIfNoSpace": true,
	}})
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "activemq")}, target, amqptest.Synced,
		drivertest.Limit{Name: "storeUsage, sendFailIfNoSpace", Full: drivertest.Refuses})
}
