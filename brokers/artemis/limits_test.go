package artemis

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func limits(t *testing.T, target driver.Target) {
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "artemis")}, target, amqptest.Memory,
		drivertest.Limit{Name: "ring-size", Topic: map[string]any{"ring-size": 100}, Keeps: 100, Full: drivertest.DropsOldest})
}

func TestFullAddressesReadAsWhatTheyDo(t *testing.T) {
	testkit.Long(t)
	for policy, full := range map[string]drivertest.Full{"DROP": drivertest.DropsNewest, "FAIL": drivertest.Refuses} {
		t.Run(policy, func(t *testing.T) {
			_, target := livetest.Start(t, provision.Options{Broker: "artemis", Server: map[string]any{
				"jvm.Xmx": "512m", "address-setting.max-size-messages": 100, "address-setting.address-full-policy": policy,
			}})
			drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "artemis")}, target, amqptest.Memory,
				drivertest.Limit{Name: "max-size-messages", Full: full})
		})
	}
}

func TestAServerThatHasAsManyClientsAsItTakesIsNamed(t *testing.T) {
	amqptest.OneTooMany(t, "artemis", product.MostClients)
}
