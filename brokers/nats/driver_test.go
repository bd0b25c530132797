package natscore_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	_ "github.com/brokermark/brokermark/brokers/nats"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var atMostOnce = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered)

func TestDriverKeepsThePromises(t *testing.T) {
	s := livetest.Suite(t, provision.Options{Broker: "nats"}, atMostOnce)
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "nats"})
	drivertest.Run(t, s)
}

func TestPartitionsAreRefused(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "nats"})
	err := livetest.SetupError(t, "nats", livetest.Config(t, "nats", target, atMostOnce, nil, nil), livetest.Topic("x", 2))
	livetest.Refused(t, err, "partitionsPerTopic: 2")
}

func TestClusterWithTLSKeepsThePromises(t *testing.T) {
	drivertest.Run(t, livetest.Suite(t, provision.Options{Broker: "nats", Nodes: 3, TLS: true}, atMostOnce))
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	drivertest.Run(t, livetest.Tuned(t, provision.Options{Broker: "nats"}, atMostOnce))
}

func TestWhatTheClientDropsIsReported(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "nats"})
	for _, mode := range []string{driver.Tuned, driver.Stock} {
		t.Run(mode, func(t *testing.T) {
			small := map[string]any{"mode": mode, "PendingMsgsLimit": 20}
			drivertest.Overflows(t, drivertest.Suite{Kind: livetest.Kind(t, "nats")}, target, atMostOnce, small, 5000)
		})
	}
}
