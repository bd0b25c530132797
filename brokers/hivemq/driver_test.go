package hivemq

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/matrixtest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var (
	once    = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered)
	least   = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	sharing = livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Unordered)
	exactly = livetest.Guarantee(driver.ExactlyOnce, driver.Memory, driver.AcksLeader, driver.Ordered)
)

func TestDriverKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	s := livetest.Suite(t, provision.Options{Broker: "hivemq"}, once, least)
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "hivemq"})
	drivertest.Run(t, s)
}

func TestDriverKeepsThePromisesInMemory(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, livetest.Tuned(t, provision.Options{Broker: "hivemq", Server: map[string]any{modeSetting: "in-memory"}}, sharing, exactly))
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, livetest.Tuned(t, provision.Options{Broker: "hivemq"}, once, least))
}

func TestAFullSessionReadsAsWhatItDrops(t *testing.T) {
	testkit.Long(t)
	_, target := livetest.Start(t, provision.Options{Broker: "hivemq", Server: map[string]any{queueSetting: 100}})
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "hivemq")}, target, least, drivertest.Limit{Name: queueSetting, Full: drivertest.DropsNewest})
}

func TestEveryGuaranteeThatIsKeptIsProved(t *testing.T) {
	testkit.Long(t)
	matrixtest.Prove(t, matrixtest.Matrix{Broker: "hivemq"})
}

func TestWhatSharersOfASubscriptionGetIsAllOfItAndCleanLeavesNothing(t *testing.T) {
	testkit.Long(t) // a JVM; Mosquitto has the same driver in make test
	_, target := livetest.Start(t, provision.Options{Broker: "hivemq", Server: map[string]any{modeSetting: "in-memory"}})
	r := livetest.Open(t, "hivemq", livetest.Config(t, "hivemq", target, sharing, nil, nil), livetest.Topic("shared", 1, "a", "b"))
	var ends []func()
	for _, c := range []driver.ConsumerConfig{{}, {ID: 1}, {Subscription: 1}} {
		ends = append(ends, r.Consume(t, c))
	}
	livetest.Must(t, r.Send(t, numbers(0, 500)...))
	r.Settled(t)
	livetest.Eventually(t, "all deliveries", func() bool { return r.Count().Received == 1000 })
	for _, end := range ends {
		end()
	}
	livetest.Must(t, r.Send(t, numbers(500, 500)...)) // which nobody reads
	livetest.Must(t, r.Driver.(driver.Cleaner).Clean(t.Context()))
	again := livetest.Open(t, "hivemq", livetest.Config(t, "hivemq", target, sharing, nil, nil), livetest.Topic("shared", 1, "a", "b"))
	again.ConsumeAll(t)
	livetest.Must(t, again.Send(t, numbers(1000, 10)...))
	again.Settled(t)
	for subscription := range 2 {
		if got := again.Received(subscription); len(got) != 10 {
			t.Errorf("%d messages came, %v first; want the 10 that were sent after Clean", len(got), got[:1])
		}
	}
}

// numbers are n payloads from first.
func numbers(first, n int) (list []string) {
	for i := first; i < first+n; i++ {
		list = append(list, fmt.Sprintf("%06d", i))
	}
	return list
}

func TestSharedSubscriptionsAreRefusedWhereTheyKeepNoPromise(t *testing.T) {
	kind := livetest.Kind(t, "hivemq")
	unordered := func(g driver.Guarantee) driver.Guarantee {
		g.Ordering = driver.Unordered
		return g
	}
	for _, c := range []struct {
		g         driver.Guarantee
		shared    any
		consumers int
		says      string
	}{
		{exactly, "true", 1, "QoS 1 at most"},
		{unordered(exactly), "auto", 2, "QoS 1 at most"},
		{exactly, "auto", 1, ""},
		{least, true, 1, "had in flight when it was killed"},
		{unordered(least), "auto", 2, "had in flight when it was killed"},
		{least, false, 1, ""},
		{once, "true", 1, "out of order"},
		{once, "auto", 1, ""},
		{unordered(once), "true", 2, ""},
		{sharing, "auto", 2, ""},
		{sharing, "false", 2, "every consumer gets every message"},
	} {
		config := livetest.Config(t, "hivemq", driver.Target{Server: map[string]any{}}, c.g, map[string]any{"mode": driver.Tuned}, map[string]any{"shared": c.shared})
		err := cmp.Or(kind.Fits(config, driver.Shape{}), kind.Share(c.g, config.Topic, c.consumers, 1))
		if c.says == "" {
			livetest.Must(t, err)
			continue
		}
		livetest.Says(t, err, c.says)
	}
	log := exactly
	log.Persistence = driver.Log
	livetest.Says(t, kind.Supports(log), "PUBREL leaves before it is written")
}

func TestServerSettingsAreRefusedByName(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"mqtt.queued-messages.max-queue", "5", "nearest is mqtt.queued-messages.max-queue-size"},
		{receiveSetting, "many", "not a whole number"},
		{modeSetting, "disk", "not one of file, in-memory"},
	} {
		asked := map[string]string{c.name: c.value}
		_, err := conf(&provision.Node{Cluster: &provision.Cluster{}}, asked)
		livetest.Says(t, err, c.says)
	}
	config := livetest.Config(t, "hivemq", driver.Target{Server: map[string]any{modeSetting: "in-memory"}}, least, nil, nil)
	livetest.Says(t, livetest.Kind(t, "hivemq").Fits(config, driver.Shape{}), "needs persistence.mode: file")
}
