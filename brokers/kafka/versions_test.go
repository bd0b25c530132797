package kafka

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAVersionRefusesWhatOnlyTheOtherHas(t *testing.T) {
	testkit.Long(t)
	for version, name := range map[string]string{"4.3.1": "log.message.format.version", "3.9.2": "group.streams.max.size"} {
		livetest.RefusesServer(t, provision.Options{Broker: "kafka", Version: version}, name, "3", "this version of Kafka has")
	}
}

func TestWhatCameAfterAVersionIsRefusedBeforeItIsStarted(t *testing.T) {
	for name, c := range map[string]struct {
		version       string
		g             driver.Guarantee
		client, topic map[string]any
		refused       string
	}{
		"exactly once":      {version: "2.2.0", g: exactly, refused: "delivery: exactly-once"},
		"zstd on 1":         {version: "1.1.1", g: atLeast, client: map[string]any{"compression.type": "zstd"}, refused: "client.compression.type: zstd"},
		"zstd on 2":         {version: "2.2.0", g: atLeast, client: map[string]any{"compression.type": "zstd"}},
		"tiers":             {version: "2.2.0", g: atLeast, topic: map[string]any{"remote.storage.enable": "true"}, refused: "topicConfig.remote.storage.enable"},
		"tiers today":       {version: "4.3.1", g: atLeast, topic: map[string]any{"remote.storage.enable": "true"}},
		"flushes":           {version: "1.1.1", g: atLeast, topic: map[string]any{"flush.messages": "1000"}},
		"of no version yet": {g: exactly},
	} {
		err := fits(livetest.Config(t, "kafka", driver.Target{Version: c.version}, c.g, c.client, c.topic), driver.Shape{})
		switch {
		case c.refused != "":
			livetest.Refused(t, err, c.refused)
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKafkaOnZooKeeperServes(t *testing.T) {
	testkit.Long(t)
	livetest.Serves(t, provision.Options{Broker: "kafka", Version: "1.1.1"}, atLeast, nil)
}

func TestContractHoldsOnKafkaWithZooKeeper(t *testing.T) {
	testkit.Long(t)
	for _, version := range []string{"1.1.1", "2.2.0"} {
		t.Run(version, func(t *testing.T) {
			drivertest.Run(t, livetest.Suite(t, provision.Options{Broker: "kafka", Version: version}, atLeast, atMost))
			guardedEitherWay(t, version)
			livetest.RefusesEach(t, provision.Options{Broker: "kafka", Version: version}, map[string]any{
				"num.io.thread": 4, "num.io.threads": "many", "zookeeper.connect": "elsewhere:1", "broker.id": 7, "jvm.Xmx": "lots",
				"process.roles": "broker", "node.id": 1,
			})
		})
	}
}

// A broker that was paused for longer than its session lasts loses it in the midst of a request: some topics are made, others not.
func TestTopicsAreMadeThoughASessionEnds(t *testing.T) {
	testkit.Long(t)
	in, target := livetest.Start(t, provision.Options{Broker: "kafka", Version: "1.1.1"})
	for round := range 4 {
		livetest.Must(t, in.Pause(t.Context(), 1))
		time.Sleep(8 * time.Second)
		livetest.Must(t, in.Resume(t.Context(), 1))
		for batch := range 6 {
			topology := driver.Topology{Subscriptions: []string{"s"}}
			for i := range 5 {
				topology.Topics = append(topology.Topics, driver.Topic{Name: fmt.Sprintf("t-%d-%d-%d", round, batch, i), Partitions: 1})
			}
			livetest.SetUp(t, "kafka", livetest.Config(t, "kafka", target, atLeast, nil, nil), topology)
		}
	}
}

func TestAClusterOfThreeOnZooKeeperServesThroughKills(t *testing.T) {
	testkit.Long(t)
	for _, version := range []string{"1.1.1", "2.2.0"} {
		t.Run(version, func(t *testing.T) {
			livetest.Serves(t, provision.Options{Broker: "kafka", Version: version, Nodes: 3, Server: map[string]any{"jvm.Xmx": "512m"}}, with(atLeast, driver.Log, 3), nil)
		})
	}
}

// Before 2.8 a listener with logins takes no notice of certificates (KIP-684).
func guardedEitherWay(t *testing.T, version string) {
	o := provision.Options{Broker: "kafka", Version: version, Server: map[string]any{"jvm.Xmx": "512m"}}
	t.Run("a client certificate and a login together are refused", func(t *testing.T) {
		host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
		livetest.Must(t, err)
		var refused *provision.ErrRefused
		if _, err := host.Start(t.Context(), livetest.Guarded(o)); !errors.As(err, &refused) {
			t.Errorf("%v; want a refusal", err)
		}
	})
	t.Run("without a client certificate nobody gets in", func(t *testing.T) {
		o := o
		o.Mutual = true
		_, target := livetest.Start(t, o)
		livetest.Open(t, "kafka", livetest.Config(t, "kafka", target, atLeast, nil, nil), livetest.Topic("in", 1, "s"))
		target.TLS = target.TLS.Clone()
		target.TLS.Certificates = nil
		requireOpenError(t, target, driver.DemandsCertificate)
	})
	t.Run("with a wrong password nobody gets in", func(t *testing.T) {
		o := o
		o.TLS, o.Login = true, livetest.Guarded(o).Login
		_, target := livetest.Start(t, o)
		livetest.Open(t, "kafka", livetest.Config(t, "kafka", target, atLeast, nil, nil), livetest.Topic("in", 1, "s"))
		target.Password = "wrong"
		requireOpenError(t, target, "credentials")
	})
}
