package redis

import (
	"context"

	"github.com/brokermark/brokermark/internal/provision"
)

// inSync counts the primary and the connected replicas that have its data.
func inSync(ctx context.Context, c *provision.Cluster) (int, error) {
	id, err := leader(ctx, c)
	if err != nil {
		return 0, err
	}
	about, err := ask(ctx, c.Nodes[id-1], "replication")
	if err != nil {
		return 0, err
	}
	return 1 + online(about), nil
}
