package activemq

import (
	"context"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestSingleBroker(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "activemq", Server: map[string]any{"kahaDB.journalMaxFileLength": "16mb", "policy.queuePrefetch": 500, "policy.advancedMessageStatisticsEnabled": true}})
	amqptest.Attaching(t, "activemq", target)
	t.Run("nothing acknowledged is lost when the broker is killed and started again", func(t *testing.T) {
		kill := func(ctx context.Context) error { return livetest.Restart(ctx, in, 1) }
		amqptest.Survives(t, "activemq", target, amqptest.Synced, kill, "only")
		amqptest.Survives(t, "activemq", target, amqptest.Ordered, kill, "a", "b")
	})
}

func TestWhatIsNotWaitedForIsRefused(t *testing.T) {
	for setting, value := range map[string]any{
		"kahaDB.journalDiskSyncStrategy": "never", "kahaDB.enableJournalDiskSyncs": false, "persistent": false,
	} {
		running := driver.Target{Endpoints: map[string]string{storeRole: string(stored(map[string]any{setting: value}))}}
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
