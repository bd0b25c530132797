package rabbitmqamqp10

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var three = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Fsync, Replicas: 3, Acks: driver.AcksQuorum, Ordering: driver.Unordered}

func TestDriverKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	s := livetest.Suite(t, provision.Options{Broker: "rabbitmq-amqp10"}, amqptest.Fast, amqptest.Memory, amqptest.Synced, amqptest.Ordered)
	s.StoredApart = rabbitserver.StoredApart
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "rabbitmq-amqp10"})
	drivertest.Run(t, s)
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, livetest.Tuned(t, provision.Options{Broker: "rabbitmq-amqp10"}, amqptest.Fast, amqptest.Memory))
}

func TestDriverKeepsThePromisesOverTLSOnAClusterOfThree(t *testing.T) {
	testkit.Long(t)
	s := livetest.Suite(t, provision.Options{Broker: "rabbitmq-amqp10", Nodes: 3, TLS: true}, three)
	s.Bulk = 300
	drivertest.Run(t, s)
}

func TestConsumersChooseWhenTheyAcknowledge(t *testing.T) {
	testkit.Long(t)
	livetest.ConsumersChooseWhenTheyAcknowledge(t, provision.Options{Broker: "rabbitmq-amqp10"}, amqptest.Fast, amqptest.Memory, nil)
}

func TestDriverKeepsThePromisesWithManualAcknowledgementsAtMostOnce(t *testing.T) {
	testkit.Long(t)
	amqptest.ManualAcknowledgements(t, "rabbitmq-amqp10")
}

func TestSingleBroker(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq-amqp10"})
	full := func(does string) map[string]any { return map[string]any{"x-max-length": 100, "x-overflow": does} }
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "rabbitmq-amqp10")}, target, amqptest.Memory,
		drivertest.Limit{Name: "drop-head", Topic: full("drop-head"), Keeps: 100, Full: drivertest.DropsOldest},
		drivertest.Limit{Name: "reject-publish", Topic: full("reject-publish"), Keeps: 100, Full: drivertest.Refuses})
	for name, c := range map[string]struct {
		subscriptions []string
		want          int
	}{
		"without a subscription nobody is to have it": {nil, 0},
		"every subscription gets every message":       {[]string{"a", "b c/d"}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			r := livetest.Open(t, "rabbitmq-amqp10", livetest.Config(t, "rabbitmq-amqp10", target, amqptest.Memory, nil, nil), livetest.Topic("fan/"+name, 1, c.subscriptions...))
			r.ConsumeAll(t)
			livetest.Must(t, r.Send(t, "x", "y", "z"))
			livetest.Eventually(t, "all deliveries", func() bool { return r.Count().Received == c.want })
		})
	}
}

func TestWhatRabbitMQCantKeepIsRefusedBeforeItStarts(t *testing.T) {
	kind := livetest.Kind(t, "rabbitmq-amqp10")
	for _, c := range []struct {
		version       string
		client, topic map[string]any
		says          string
	}{
		{"3.10.8", nil, nil, "since 4.0"},
		{"4.0.5", map[string]any{"hostname": "/"}, nil, "behind vhost:"},
		{"4.0.5", map[string]any{"GroupID": "key"}, nil, "no meaning"},
		{"4.0.5", nil, map[string]any{"x-queue-type": "classic"}, "use a quorum queue"},
	} {
		config := livetest.Config(t, "rabbitmq-amqp10", driver.Target{Version: c.version}, amqptest.Synced, c.client, c.topic)
		livetest.Says(t, kind.Fits(config, driver.Shape{}), c.says)
	}
}
