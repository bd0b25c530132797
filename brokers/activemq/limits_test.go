package activemq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAFullStoreRefusesWhereItIsToldTo(t *testing.T) {
	testkit.Long(t)
	_, target := livetest.Start(t, provision.Options{Broker: "activemq", Server: map[string]any{
		"storeUsage.limit": "256 kb", "kahaDB.journalMaxFileLength": "128 kb", "policy.sendFailIfNoSpace": true,
	}})
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "activemq")}, target, amqptest.Synced,
		drivertest.Limit{Name: "storeUsage, sendFailIfNoSpace", Full: drivertest.Refuses})
}

// What doesn't fit in memory of messages that are not persistent waits in the temporary store.
func TestAFullTemporaryStoreRefusesWhereItIsToldTo(t *testing.T) {
	testkit.Long(t)
	_, target := livetest.Start(t, provision.Options{Broker: "activemq", Server: map[string]any{
		"memoryUsage.limit": "256 kb", "tempUsage.limit": "256 kb", "policy.sendFailIfNoSpace": true,
	}})
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "activemq")}, target, amqptest.Memory,
		drivertest.Limit{Name: "tempUsage, sendFailIfNoSpace", Full: drivertest.Refuses})
}

func TestAServerThatHasAsManyClientsAsItTakesIsNamed(t *testing.T) {
	amqptest.OneTooMany(t, "activemq", product.MostClients)
}
