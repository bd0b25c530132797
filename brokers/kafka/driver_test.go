package kafka

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

func TestContractHoldsOnARealBroker(t *testing.T) {
	flushed := livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered)
	s := livetest.Suite(t, provision.Options{Broker: "kafka"}, atLeast, flushed, atMost, exactly)
	s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "kafka", Server: map[string]any{"jvm.Xmx": "512m"}})
	drivertest.Run(t, s)
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, livetest.Tuned(t, provision.Options{Broker: "kafka"}, atLeast, atMost, exactly))
}

func TestContractHoldsWithGroupsOfTheBroker(t *testing.T) {
	testkit.Long(t)
	s := livetest.Suite(t, provision.Options{Broker: "kafka"}, atLeast, exactly)
	s.Client = map[string]any{"group.protocol": brokerGroups}
	drivertest.Run(t, s)
}

func TestGroupsOfTheBrokerAreRefusedWhereItHasNone(t *testing.T) {
	for version, fits := range map[string]bool{"3.9.2": false, "1.1.1": false, "4.3.1": true, "": true} {
		c := livetest.Config(t, "kafka", driver.Target{Version: version}, atLeast, map[string]any{"group.protocol": brokerGroups}, nil)
		if err := fitsVersion(c); (err == nil) != fits {
			t.Errorf("Kafka %q: %v", version, err)
		}
	}
}

func TestContractHoldsOnKafka3(t *testing.T) {
	testkit.Long(t)
	s := livetest.Suite(t, provision.Options{Broker: "kafka", Version: "3.9.2"}, atLeast)
	s.Client = map[string]any{"enable.auto.commit": false}
	drivertest.Run(t, s)
}

func TestContractHoldsOnAClusterOfThreeWithTLS(t *testing.T) {
	testkit.Long(t)
	in, bare := livetest.Start(t, provision.Options{Broker: "kafka", Nodes: 3, TLS: true, Server: map[string]any{"jvm.Xmx": "512m"}})
	drivertest.Run(t, livetest.SuiteOn(t, in, with(atLeast, driver.Log, 3)))
	t.Run("without TLS it can't be opened, and the error says why", func(t *testing.T) {
		bare.TLS = nil
		requireOpenError(t, bare, "TLS")
	})
	t.Run("the leader can be named", func(t *testing.T) {
		nodes, err := in.NodeOf(t.Context(), "leader")
		if err != nil || len(nodes) != 1 || nodes[0] < 1 || nodes[0] > 3 {
			t.Errorf("leader: %v, %v; want one of 1 to 3", nodes, err)
		}
	})
}

func requireOpenError(t *testing.T, to driver.Target, want string) {
	t.Helper()
	began := time.Now()
	livetest.OpenSays(t, "kafka", to, atLeast, want)
	if took := time.Since(began); took > 3*openPatience {
		t.Errorf("open took %v to fail", took)
	}
}

func TestServerSettingsReachTheBrokerOrAreRefused(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "kafka", Server: map[string]any{"num.io.threads": 3, "jvm.Xmx": "400m", "jvm.XX:+UseSerialGC": true}})
	requireOpenError(t, driver.Target{Addresses: in.Addresses(), User: "someone", Password: "wrong"}, "login")
	client, err := kgo.NewClient(kgo.SeedBrokers(in.Addresses()...))
	livetest.Must(t, err)
	defer client.Close()
	configs, err := kadm.NewClient(client).DescribeBrokerConfigs(t.Context(), 1)
	livetest.Must(t, err)
	found := ""
	for _, c := range configs[0].Configs {
		if c.Key == "num.io.threads" {
			found = c.MaybeValue()
		}
	}
	if found != "3" {
		t.Errorf("num.io.threads is %q on the broker, 3 was asked for", found)
	}
	for _, g := range []driver.Guarantee{atMost, atLeast} {
		t.Run(string(g.Delivery)+": a member that was forgotten goes on", func(t *testing.T) { goesOnForgotten(t, client, target, g) })
	}
	for _, g := range []driver.Guarantee{atMost, atLeast} {
		t.Run(string(g.Delivery)+": one commit per poll", func(t *testing.T) { commitsOncePerPoll(t, client, target, g) })
	}
	t.Run("what a share group's member didn't acknowledge comes again", func(t *testing.T) { comesAgain(t, target) })
	for _, g := range []driver.Guarantee{atLeast, exactly} {
		t.Run(string(g.Delivery)+": a relay takes another's place", func(t *testing.T) { takesOver(t, target, g) })
	}
	t.Run("a full buffer holds sending back", func(t *testing.T) { bufferWaits(t, target) })
	livetest.RefusesEach(t, provision.Options{Broker: "kafka"}, map[string]any{
		"num.io.thread":   4,
		"num.io.threads":  "many",
		"log.dirs":        "/tmp/elsewhere",
		"jvm.XX:+NoSuch":  true,
		"jvm.Xmx":         "lots",
		"message.max":     1e9,
		"num.replica\nid": 1,
	})
}
