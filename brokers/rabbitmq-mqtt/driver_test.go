package rabbitmqmqtt

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var (
	once   = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered)
	least  = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	synced = livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Ordered)
	quorum = map[string]any{queueType: "quorum"}
)

func suite(t *testing.T, o provision.Options, guarantees ...driver.Guarantee) drivertest.Suite {
	s := livetest.Suite(t, o, guarantees...)
	s.Consumers, s.StoredApart = 1, rabbitserver.StoredApart
	return s
}

func TestDriverKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	s := suite(t, provision.Options{Broker: "rabbitmq-mqtt"}, once, least)
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "rabbitmq-mqtt"})
	drivertest.Run(t, s)
}

func TestDriverKeepsThePromisesOnQuorumQueues(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, suite(t, provision.Options{Broker: "rabbitmq-mqtt", Server: quorum}, once, synced))
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	s := suite(t, provision.Options{Broker: "rabbitmq-mqtt"}, least, once)
	s.Client = map[string]any{"mode": driver.Tuned}
	drivertest.Run(t, s)
}

func TestWhatASessionHasWaitsThroughAKill(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "rabbitmq-mqtt"})
	r := livetest.Open(t, "rabbitmq-mqtt", livetest.Config(t, "rabbitmq-mqtt", target, least, nil, nil), livetest.Topic("kept", 1, "s"))
	var all []string
	for i := range 500 {
		all = append(all, fmt.Sprintf("%06d", i))
	}
	livetest.Must(t, r.Send(t, all...))
	livetest.Must(t, in.Kill(t.Context(), 1))
	livetest.Must(t, in.Restart(t.Context(), 1))
	r.Consume(t, driver.ConsumerConfig{})
	// The producer, connecting again, may end the consumer's first connection: what that left unacknowledged comes again.
	first := func() []string {
		var got []string
		had := map[string]bool{}
		for _, m := range r.Received(0) {
			if !had[m] {
				got, had[m] = append(got, m), true
			}
		}
		return got
	}
	livetest.Eventually(t, "all came", func() bool { return len(first()) >= len(all) })
	if got := first(); !slices.Equal(got, all) {
		t.Errorf("%d messages came, in order: %v; want %d in order", len(got), slices.IsSorted(got), len(all))
	}
	err := r.Driver.Consume(t.Context(), driver.ConsumerConfig{ID: 1}, r.Sink(0), func() {})
	if refusal := (*driver.ErrUnsupported)(nil); !errors.As(err, &refusal) {
		t.Errorf("a second consumer of the subscription: %v; want a refusal", err)
	}
}

func TestWhatRabbitMQCantKeepOverMQTTIsRefusedBeforeItStarts(t *testing.T) {
	kind := livetest.Kind(t, "rabbitmq-mqtt")
	exactly := livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	livetest.Says(t, kind.Supports(exactly), "no QoS 2")
	livetest.Says(t, kind.Share(least, driver.Values{}, 2, 1), "no shared subscriptions")
	for _, c := range []struct {
		server map[string]any
		says   string
	}{
		{nil, "not started here"},
		{map[string]any{}, "has to be quorum"},
		{map[string]any{queueType: "classic"}, "has to be quorum"},
	} {
		config := livetest.Config(t, "rabbitmq-mqtt", driver.Target{Server: c.server}, synced, nil, nil)
		livetest.Says(t, kind.Fits(config, driver.Shape{}), c.says)
	}
}
