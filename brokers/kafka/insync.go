package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/brokermark/brokermark/internal/provision"
)

// inSync is the smallest set of in-sync replicas that a partition with several replicas has.
func inSync(ctx context.Context, c *provision.Cluster) (int, error) {
	var errs []error
	for _, n := range c.Nodes { // any may be down
		least := 0
		err := ask(ctx, n, func(ctx context.Context, admin *kadm.Client) error {
			topics, err := admin.ListTopics(ctx)
			topics.EachPartition(func(p kadm.PartitionDetail) {
				if len(p.Replicas) > 1 && (least == 0 || len(p.ISR) < least) {
					least = len(p.ISR)
				}
			})
			return err
		})
		if err == nil {
			return least, nil
		}
		errs = append(errs, err)
	}
	return 0, errors.Join(errs...)
}
