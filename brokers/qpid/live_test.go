package qpid

import (
	"context"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestNothingAcknowledgedIsLostWhenTheBrokerIsKilled(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "qpid", Server: map[string]any{
		"port.threadPoolSize": 10, "context.qpid.broker.bdbTotalCacheSize": 1 << 27,
	}})
	amqptest.Attaching(t, "qpid", target)
	t.Run("limits", func(t *testing.T) { limits(t, target) })
	t.Run("one queue", func(t *testing.T) {
		testkit.Long(t) // the matrix kills it too
		amqptest.Survives(t, "qpid", target, amqptest.Synced, killed(in), "only")
	})
	t.Run("two queues, ordered", func(t *testing.T) {
		testkit.Long(t)
		amqptest.Survives(t, "qpid", target, amqptest.Ordered, killed(in), "a", "b")
	})
}

func TestDerbyLosesNothingEither(t *testing.T) {
	testkit.Long(t)
	in, target := livetest.Start(t, provision.Options{Broker: "qpid", Server: map[string]any{"virtualhost.type": "DERBY"}})
	amqptest.Survives(t, "qpid", target, amqptest.Synced, killed(in), "only")
}

func killed(in *provision.Instance) func(context.Context) error {
	return func(ctx context.Context) error { return livetest.Restart(ctx, in, 1) }
}

func TestPersistenceIsRefusedInMemory(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "qpid", Server: map[string]any{"virtualhost.type": "Memory"}})
	livetest.OpenSays(t, "qpid", target, amqptest.Synced, "persistence: fsync is not supported")
	livetest.OpenSays(t, "qpid", target, amqptest.Ordered, "persistence: log is not supported")
}

func TestServerSettingsAreRefusedByName(t *testing.T) {
	livetest.RefusesEach(t, provision.Options{Broker: "qpid"}, map[string]any{
		"threadPoolSize":   1,
		"virtualhost.kind": "BDB",
		"virtualhost.type": "Oracle",
		"virtualhost.remoteTransactionSynchronizationPolicy": "SYNC",
		"port.port":                        1,
		"context.qpid.broker.bdbCacheSize": 1,
	})
}

func TestGroupOfThreeLosesNothingWhenItsMasterDies(t *testing.T) {
	testkit.Long(t)
	in, target := livetest.Start(t, provision.Options{Broker: "qpid", Nodes: 3, TLS: true, Server: map[string]any{
		"jvm.Xmx": "256m", "jvm.XX:MaxDirectMemorySize": "512m",
	}})
	g := livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksQuorum, driver.Unordered)
	g.Replicas = 3
	kill := func(ctx context.Context) error {
		masters, err := in.NodeOf(ctx, "leader")
		if err != nil {
			return err
		}
		return in.Kill(ctx, masters[0])
	}
	amqptest.Survives(t, "qpid", target, g, kill, "a", "b")
}
