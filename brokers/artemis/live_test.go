package artemis

import (
	"context"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestSingleBroker(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "artemis", Server: map[string]any{"journal-datasync": false, "jvm.Xmx": "600m"}})
	amqptest.Attaching(t, "artemis", target)
	t.Run("limits", func(t *testing.T) { limits(t, target) })
	t.Run("fsync is refused without journal-datasync", func(t *testing.T) {
		livetest.OpenSays(t, "artemis", target, amqptest.Synced, "persistence: fsync is not supported")
	})
	t.Run("nothing acknowledged is lost when the broker is killed and started again", func(t *testing.T) {
		testkit.Long(t) // the matrix kills it too
		kill := func(ctx context.Context) error { return livetest.Restart(ctx, in, 1) }
		amqptest.Survives(t, "artemis", target, amqptest.Ordered, kill, "a", "b")
	})
}

func TestNothingFlushedIsLostWhenTheBrokerIsKilled(t *testing.T) {
	testkit.Long(t)
	in, target := livetest.Start(t, provision.Options{Broker: "artemis"})
	amqptest.Survives(t, "artemis", target, amqptest.Synced, func(ctx context.Context) error { return livetest.Restart(ctx, in, 1) }, "only")
}

func TestServerSettingsAreRefusedByName(t *testing.T) {
	livetest.RefusesEach(t, provision.Options{Broker: "artemis"}, map[string]any{
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
	testkit.Long(t)
	in, target := livetest.Start(t, provision.Options{Broker: "artemis", Nodes: 2, TLS: true, Server: map[string]any{"jvm.Xmx": "600m"}})
	g := livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Unordered)
	g.Replicas = 2
	leads := func(want int) {
		t.Helper()
		livetest.Eventually(t, "the right node leads", func() bool {
			nodes, err := in.NodeOf(t.Context(), "leader")
			return err == nil && len(nodes) == 1 && nodes[0] == want
		})
	}
	leads(1)
	amqptest.Survives(t, "artemis", target, g, func(ctx context.Context) error { return in.Kill(ctx, 1) }, "a", "b")
	leads(2)
	t.Run("the primary takes over again when it is back", func(t *testing.T) {
		livetest.Must(t, in.Restart(t.Context(), 1))
		leads(1)
	})
}
