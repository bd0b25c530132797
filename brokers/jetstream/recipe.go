package jetstream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/provision"
)

func recipe() *provision.Recipe {
	r := natsio.Recipe(func(n *provision.Node) natsio.Block {
		return natsio.Block{"jetstream": natsio.Block{"store_dir": n.Data}}
	})
	r.Formed, r.Leader, r.InSync = formed, leader, inSync
	return r
}

// formed waits until the nodes have elected the meta leader, which places streams, and it sees all other nodes.
func formed(ctx context.Context, c *provision.Cluster) error {
	if err := natsio.Routed(ctx, c); err != nil {
		return err
	}
	for _, n := range c.Nodes {
		var health server.HealthStatus
		if err := natsio.Monitor(ctx, n, "/healthz", &health); err != nil {
			return fmt.Errorf("node %d: %w", n.ID, err)
		}
	}
	if len(c.Nodes) == 1 {
		return nil
	}
	for _, n := range c.Nodes {
		var js server.JSInfo
		if err := natsio.Monitor(ctx, n, "/jsz", &js); err != nil {
			return fmt.Errorf("node %d: %w", n.ID, err)
		}
		if js.Meta == nil || js.Meta.Leader == "" || js.Meta.Size != len(c.Nodes) {
			return fmt.Errorf("node %d knows no leader of all %d nodes", n.ID, len(c.Nodes))
		}
		if js.Meta.Leader != n.Name() {
			continue
		}
		for _, peer := range js.Meta.Replicas {
			if !peer.Current || peer.Offline {
				return fmt.Errorf("%s has not caught up with the leader", peer.Name)
			}
		}
	}
	return nil
}

// leader is the node that leads the first stream, because its loss affects producers; without a replicated stream it is the meta
// leader, which places streams.
func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	var last error
	placing := ""
	for _, n := range c.Nodes {
		var js server.JSInfo
		if err := natsio.Monitor(ctx, n, "/jsz?accounts=true&streams=true", &js); err != nil {
			last = err // a node that is down can't be asked, and need not be
			continue
		}
		for _, account := range js.AccountDetails {
			for _, stream := range account.Streams {
				if stream.Cluster != nil && stream.Cluster.Leader != "" {
					return node(c, stream.Cluster.Leader)
				}
			}
		}
		if js.Meta != nil && js.Meta.Leader != "" {
			placing = js.Meta.Leader
		}
	}
	if placing == "" {
		return 0, fmt.Errorf("no node knows a leader: %w", last)
	}
	return node(c, placing)
}

func node(c *provision.Cluster, name string) (int, error) {
	for _, n := range c.Nodes {
		if n.Name() == name {
			return n.ID, nil
		}
	}
	return 0, fmt.Errorf("the leader %q is not a node of cluster %s", name, c.ID)
}
