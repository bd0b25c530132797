package rabbitmqstream

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var (
	fast   = livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksNone, driver.Ordered)
	logged = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	once   = livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksQuorum, driver.Ordered)
)

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, livetest.Tuned(t, provision.Options{Broker: "rabbitmq-stream"}, fast, logged, once))
}

func TestDriverKeepsThePromises(t *testing.T) {
	s := livetest.Suite(t, provision.Options{Broker: "rabbitmq-stream"}, fast, logged, once)
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "rabbitmq-stream"})
	// A consumer whose connection breaks while the client closes it waits callTimeout for the answer.
	s.Lingers = []string{"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream.waitCodeWithTimeOut"}
	drivertest.Run(t, s)
}
