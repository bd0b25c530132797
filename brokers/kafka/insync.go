package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/brokermark/brokermark/internal/provision"
)

// inSync is the smallest number of in-sync replicas over all partitions with several replicas.
func inSync(ctx context.Context, c *provision.Cluster) (int, error) {
	return provision.Ask(c, func(n *provision.Node) (least int, err error) {
		err = ask(ctx, n, func(ctx context.Context, admin *kadm.Client) error {
			topics, err := admin.ListTopics(ctx)
			topics.EachPartition(func(p kadm.PartitionDetail) {
				if len(p.Replicas) > 1 && (least == 0 || len(p.ISR) < least) {
					least = len(p.ISR)
				}
			})
			return err
		})
		return least, err
	})
}
