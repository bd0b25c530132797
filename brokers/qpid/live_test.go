package qpid

import (
	"context"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestSingleBroker(t *testing.T) {
	for _, kind := range []string{"BDB", "DERBY"} {
		t.Run(kind, func(t *testing.T) {
			in, target := amqptest.Start(t, provision.Options{Broker: "qpid", Server: map[string]any{
				"virtualhost.type": kind, "port.threadPoolSize": 10, "context.qpid.broker.bdbTotalCacheSize": 1 << 27,
			}})
			amqptest.Attaching(t, "qpid", target)
			t.Run("nothing acknowledged is lost when the broker is killed and started again", func(t *testing.T) {
				kill := func(ctx context.Context) error {
					if err := in.Kill(ctx, 1); err != nil {
						return err
					}
					return in.Restart(ctx, 1)
				}
				amqptest.Survives(t, "qpid", target, amqptest.Synced, kill, "only")
				amqptest.Survives(t, "qpid", target, amqptest.Ordered, kill, "a", "b")
			})
		})
	}
}

func TestPersistenceIsRefusedInMemory(t *testing.T) {
	_, target := amqptest.Start(t, provision.Options{Broker: "qpid", Server: map[string]any{"virtualhost.type": "Memory"}})
	amqptest.RequireOpenError(t, "qpid", target, amqptest.Synced, "persistence: fsync is not supported")
	amqptest.RequireOpenError(t, "qpid", target, amqptest.Ordered, "persistence: log is not supported")
}

func TestEncrypted(t *testing.T) { amqptest.Encrypted(t, "qpid", "port.needClientAuth") }

func TestServerSettingsAreRefusedByName(t *testing.T) {
	amqptest.Refuses(t, "qpid", map[string]any{
		"threadPoolSize":   1,
		"virtualhost.kind": "BDB",
		"virtualhost.type": "Oracle",
		"virtualhost.remoteTransactionSynchronizationPolicy": "SYNC",
		"port.port":                        1,
		"context.qpid.broker.bdbCacheSize": 1,
	})
}
