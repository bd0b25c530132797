package activemq

import (
	"context"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestSingleBroker(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "activemq", Server: map[string]any{"kahaDB.journalMaxFileLength": "16mb", "policy.queuePrefetch": 500, "policy.advancedMessageStatisticsEnabled": true}})
	amqptest.Attaching(t, "activemq", target)
	t.Run("nothing acknowledged is lost when the broker is killed and started again", func(t *testing.T) {
		testkit.Long(t) // the matrix kills it too
		kill := func(ctx context.Context) error { return livetest.Restart(ctx, in, 1) }
		amqptest.Survives(t, "activemq", target, amqptest.Synced, kill, "only")
		amqptest.Survives(t, "activemq", target, amqptest.Ordered, kill, "a", "b")
	})
}

func TestWhatIsNotWaitedForIsRefused(t *testing.T) {
	for setting, value := range map[string]any{
		"kahaDB.journalDiskSyncStrategy": "never", "kahaDB.enableJournalDiskSyncs": false, "persistent": false,
	} {
		running := driver.Target{Server: map[string]any{setting: value}}
		livetest.OpenSays(t, "activemq", running, amqptest.Synced, "persistence: fsync is not supported")
		livetest.OpenSays(t, "activemq", running, amqptest.Ordered, "persistence: log is not supported")
	}
}

func TestServerSettingsAreRefusedByName(t *testing.T) {
	livetest.RefusesEach(t, provision.Options{Broker: "activemq"}, map[string]any{
		"persistant":                   true,
		"kahaDB.enableIndexWriteAsync": "perhaps",
		"brokerName":                   "x",
		"kahaDB.directory":             "/tmp/elsewhere",
		"kahaDB.journalSync":           true,
		"policy.queue":                 "x",
		"memoryUsage.percentOfHeap":    10,
		"storeUsage.limit":             `1 gb" x="`,
		"amqp.transport.producerCred":  10,
	})
}

func TestATopicReachesEveryConsumerThatIsConnected(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "activemq"})
	c := livetest.Config(t, "activemq", target, amqptest.Fast, nil, map[string]any{"destination": "topic"})
	r := livetest.Open(t, "activemq", c, livetest.Topic("plain", 1, "a", "b"))
	livetest.Must(t, r.Send(t, "nobody hears it"))
	r.ConsumeAll(t)
	livetest.Must(t, r.Send(t, "x", "y"))
	livetest.Eventually(t, "both subscriptions have both messages", func() bool { return r.Count().Received == 4 })
	for s := range 2 {
		if got := strings.Join(r.Received(s), " "); got != "x y" {
			t.Errorf("subscription %d received %q", s, got)
		}
	}
}

func TestWhatADestinationDoesNotKeepIsRefusedBeforeAStart(t *testing.T) {
	one := driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1}
	two, shared, backlog := one, one, one
	two.Subscriptions, shared.Consumers, backlog.Backlog = 2, 2, true
	logged := amqptest.Fast
	logged.Persistence = driver.Log
	for name, c := range map[string]struct {
		destination string
		g           driver.Guarantee
		s           driver.Shape
		refused     string
	}{
		"a queue for two subscriptions": {"queue", amqptest.Fast, two, "topicConfig.destination: queue"},
		"at least once over a topic":    {"topic", amqptest.Memory, one, "topicConfig.destination: topic"},
		"a topic on disk":               {"topic", logged, one, "topicConfig.destination: topic"},
		"a topic that is shared":        {"topic", amqptest.Fast, shared, "topicConfig.destination: topic"},
		"a topic's backlog":             {"topic", amqptest.Fast, backlog, "topicConfig.destination: topic"},
		"a topic for two":               {"topic", amqptest.Fast, two, ""},
		"a virtual topic for two":       {"VirtualTopic", amqptest.Memory, two, ""},
	} {
		running := driver.Target{Version: "6.3.1", Server: map[string]any{}}
		err := fits(livetest.Config(t, "activemq", running, c.g, nil, map[string]any{"destination": c.destination}), c.s)
		switch {
		case c.refused != "":
			t.Run(name, func(t *testing.T) { livetest.Refused(t, err, c.refused) })
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}
