package activemq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// The newer one takes it: TestSingleBroker starts with it.
func TestTheOldestVersionServes(t *testing.T) {
	livetest.Serves(t, provision.Options{Broker: "activemq", Version: "5.15.9"}, amqptest.Synced, nil)
}

func TestTheOldVersionRefusesWhatOnlyTheNewOneHas(t *testing.T) {
	testkit.Long(t)
	const name = "policy.advancedMessageStatisticsEnabled"
	livetest.RefusesServer(t, provision.Options{Broker: "activemq", Version: "5.18.3"}, name, true, "")
}
