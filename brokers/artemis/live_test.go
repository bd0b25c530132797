package artemis

import (
	"context"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestSingleBroker(t *testing.T) {
	in, target := amqptest.Start(t, provision.Options{Broker: "artemis", Server: map[string]any{"journal-datasync": false, "jvm.Xmx": "600m"}})
	amqptest.Attaching(t, "artemis", target)
	t.Run("limits", func(t *testing.T) { limits(t, target) })
	t.Run("fsync is refused without journal-datasync", func(t *testing.T) {
		amqptest.RequireOpenError(t, "artemis", target, amqptest.Synced, "persistence: fsync is not supported")
	})
	t.Run("nothing acknowledged is lost when the broker is killed and started again", func(t *testing.T) {
		kill := func(ctx context.Context) error { return killed(ctx, in) }
		amqptest.Survives(t, "artemis", target, amqptest.Ordered, kill, "a", "b")
	})
}

func killed(ctx context.Context, in *provision.Instance) error {
	if err := in.Kill(ctx, 1); err != nil {
		return err
	}
	return in.Restart(ctx, 1)
}

func TestNothingFlushedIsLostWhenTheBrokerIsKilled(t *testing.T) {
	livetest.Long(t)
	in, target := amqptest.Start(t, provision.Options{Broker: "artemis"})
	amqptest.Survives(t, "artemis", target, amqptest.Synced, func(ctx context.Context) error { return killed(ctx, in) }, "only")
}

func TestServerSettingsAreRefusedByName(t *testing.T) {
	amqptest.Refuses(t, "artemis", map[string]any{
		"journal-typ":                   "NIO",
		"journal-datasync":              "perhaps",
		"journal-directory":             "/tmp/elsewhere",
		"name":                          "x",
		"acceptor.amqpCredit":           10,
		"address-setting.max-size-byte": 1,
		"address-setting.page-size":     "10M",
		"global-max-messages":           "<x/>",
		"jvm.heap":                      "1g",
	})
}

func TestPairLosesNothingWhenThePrimaryDies(t *testing.T) {
	livetest.Long(t)
	in, target := amqptest.Start(t, provision.Options{Broker: "artemis", Nodes: 2, TLS: true, Server: map[string]any{"jvm.Xmx": "600m"}})
	g := amqptest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Unordered)
	g.Replicas = 2
	leads := func(want int) {
		t.Helper()
		amqptest.Eventually(t, "the right node leads", func() bool {
			nodes, err := in.NodeOf(t.Context(), "leader")
			return err == nil && len(nodes) == 1 && nodes[0] == want
		})
	}
	leads(1)
	amqptest.Survives(t, "artemis", target, g, func(ctx context.Context) error { return in.Kill(ctx, 1) }, "a", "b")
	leads(2)
	t.Run("the primary takes over again when it is back", func(t *testing.T) {
		amqptest.Must(t, in.Restart(t.Context(), 1))
		leads(1)
	})
}
