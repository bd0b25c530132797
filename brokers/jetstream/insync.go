package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/provision"
)

// inSync is the smallest number of current replicas, the leader included, over all replicated streams, as their leaders report it.
func inSync(ctx context.Context, c *provision.Cluster) (int, error) {
	least := 0
	var errs []error
	for _, n := range c.Nodes {
		var js server.JSInfo
		if err := natsio.Monitor(ctx, n, "/jsz?accounts=true&streams=true&config=true", &js); err != nil {
			errs = append(errs, err) // a node that is down is no leader
			continue
		}
		for _, account := range js.AccountDetails {
			for _, s := range account.Streams {
				if s.Config == nil || s.Config.Replicas < 2 || s.Cluster == nil || s.Cluster.Leader != n.Name() {
					continue
				}
				current := 1
				for _, peer := range s.Cluster.Replicas {
					if peer.Current && !peer.Offline {
						current++
					}
				}
				if least == 0 || current < least {
					least = current
				}
			}
		}
	}
	if least == 0 && len(errs) > 0 {
		return 0, fmt.Errorf("no leader of a stream answers: %w", errors.Join(errs...))
	}
	return least, nil
}
