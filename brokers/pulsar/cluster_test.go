package pulsar

import (
	"context"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// TestThreeNodesKeepTheirPromisesWhenOneDies brings up three ZooKeepers, three bookies and three brokers.
func TestThreeNodesKeepTheirPromisesWhenOneDies(t *testing.T) {
	testkit.Long(t)
	in, target := livetest.Start(t, provision.Options{Broker: "pulsar", Nodes: 3, TLS: true, Server: small(map[string]any{
		// How long a dead node is believed to live: its topics move and its bookie may come back no sooner.
		"zkTimeout": 10_000, "metadataStoreSessionTimeoutMillis": 10_000,
	})})
	s := livetest.SuiteOn(t, in, copies(atLeast, 3))
	s.Bulk, s.QueuedInBatches = 200, true
	drivertest.Run(t, s)
	for name, offset := range map[string]int{
		"the node whose broker owns most topics": 0,
		"another node's bookie and ZooKeeper":    1,
	} {
		t.Run(name, func(t *testing.T) {
			var node int
			breakAndCheck(t, target, []promise{
				{g: copies(atLeast, 3), mayRepeat: true},
				{g: copies(unordered(atLeast), 2), mayRepeat: true},
				{g: copies(exactly, 2)},
				{g: copies(atMost, 2), mayLose: true, mayFail: true},
			}, func(ctx context.Context) error {
				leader, err := in.NodeOf(ctx, "leader") // of the topics that are there now
				if err != nil {
					return err
				}
				node = (leader[0]-1+offset)%in.Nodes() + 1
				return in.Kill(ctx, node)
			}, func(ctx context.Context) error { return in.Restart(ctx, node) })
		})
	}
}
