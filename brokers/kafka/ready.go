package kafka

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/brokermark/brokermark/internal/provision"
)

// ready reports an error unless this node has our cluster's ID and is one of its brokers.
func ready(ctx context.Context, n *provision.Node) error {
	want, err := cluster(n)
	if err != nil {
		return err
	}
	return ask(ctx, n, func(ctx context.Context, admin *kadm.Client) error {
		m, err := admin.BrokerMetadata(ctx)
		if err != nil {
			return err
		}
		if m.Cluster != want {
			return fmt.Errorf("%s is of cluster %s, not of %s", n.Address(), m.Cluster, want)
		}
		if !slices.Contains(m.Brokers.NodeIDs(), int32(n.ID)) {
			return fmt.Errorf("node %d is not yet among the brokers %v", n.ID, m.Brokers.NodeIDs())
		}
		return nil
	})
}

func formed(ctx context.Context, c *provision.Cluster) error {
	return ask(ctx, c.Nodes[0], func(ctx context.Context, admin *kadm.Client) error {
		brokers, err := admin.ListBrokers(ctx)
		if err == nil && len(brokers) < len(c.Nodes) {
			err = fmt.Errorf("%d of %d brokers have joined", len(brokers), len(c.Nodes))
		}
		return err
	})
}

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
