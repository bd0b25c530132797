package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/internal/provision"
)

const hashSlots = 16384

// clusterRecipe starts the same servers as one Redis Cluster: the first nodes are the primaries, each with an equal share of the
// slots, the others their replicas in turn.
func clusterRecipe() *provision.Recipe {
	r := recipe()
	r.Ports, r.MaxNodes = []string{"client", "bus"}, clusterNodes(clusterCopies)
	r.Configure, r.Formed, r.Leader, r.InSync = configureCluster, clusterFormed, busiest, everyShard
	return r
}

// replicasEach is the number of replicas of each primary.
func replicasEach(c *provision.Cluster) (int, error) {
	given, ok := c.Settings[copiesPerShard]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(fmt.Sprint(given))
	if err != nil || n < 0 || n >= clusterCopies || len(c.Nodes)%(n+1) != 0 || len(c.Nodes) < clusterNodes(n+1) {
		return 0, &provision.ErrSetting{Name: copiesPerShard, Reason: fmt.Sprintf(
			"%v doesn't fit %d nodes: from 0 to %d, and with replicas at least %d primaries that all have as many", given, len(c.Nodes), clusterCopies-1, votes)}
	}
	return n, nil
}

func configureCluster(ctx context.Context, n *provision.Node) error {
	if _, err := replicasEach(n.Cluster); err != nil {
		return err
	}
	return configure(ctx, n)
}

// clusterNode are the settings of a cluster node.
func clusterNode(n *provision.Node) string {
	text := fmt.Sprintf("cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-port %d\n", n.Ports["bus"])
	if n.Cluster.TLS != nil {
		text += "tls-cluster yes\n"
	}
	if _, given := n.Cluster.Settings["cluster-node-timeout"]; !given {
		text += "cluster-node-timeout 5000\n"
	}
	return text
}

// clusterFormed creates the cluster, one step with each call, and returns an error until every node knows all of it and every
// replica has its primary's data.
func clusterFormed(ctx context.Context, c *provision.Cluster) error {
	replicas, err := replicasEach(c)
	if err != nil {
		return err
	}
	var clients []*redis.Client
	for _, n := range c.Nodes {
		client, err := probe(n)
		if err != nil {
			return err
		}
		defer client.Close()
		clients = append(clients, client)
	}
	primaries := len(clients) / (replicas + 1)
	for i, client := range clients {
		if err := introduce(ctx, c, client, i, primaries); err != nil {
			return fmt.Errorf("node %d: %w", i+1, err)
		}
	}
	for i, client := range clients[primaries:] {
		if err := follow(ctx, client, clients[i%primaries]); err != nil {
			return fmt.Errorf("node %d follows node %d: %w", primaries+i+1, i%primaries+1, err)
		}
	}
	for i, client := range clients {
		about, err := client.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		if state := fields(about); state["cluster_state"] != "ok" || state["cluster_known_nodes"] != strconv.Itoa(len(clients)) {
			return fmt.Errorf("node %d: the cluster's state is %s, with %s of %d nodes", i+1, state["cluster_state"], state["cluster_known_nodes"], len(clients))
		}
	}
	n, err := everyShard(ctx, c)
	if err == nil && n != replicas+1 {
		err = fmt.Errorf("a primary has %d of %d replicas", n-1, replicas)
	}
	return err
}

// introduce assigns slots to a node that knows no other node, and makes it meet the first one.
func introduce(ctx context.Context, c *provision.Cluster, client *redis.Client, i, primaries int) error {
	about, err := client.ClusterInfo(ctx).Result()
	state := fields(about)
	if err != nil || state["cluster_known_nodes"] != "1" {
		return err
	}
	if state["cluster_slots_assigned"] == "0" && i < primaries {
		if err := client.ClusterAddSlotsRange(ctx, i*hashSlots/primaries, (i+1)*hashSlots/primaries-1).Err(); err != nil {
			return err
		}
	}
	if state["cluster_my_epoch"] == "0" {
		if err := client.Do(ctx, "cluster", "set-config-epoch", i+1).Err(); err != nil {
			return err
		}
	}
	if i == 0 {
		return nil
	}
	first := c.Nodes[0].Ports
	return client.Do(ctx, "cluster", "meet", "127.0.0.1", first["client"], first["bus"]).Err()
}

// follow makes a node the replica of a primary as soon as it knows that primary.
func follow(ctx context.Context, client, primary *redis.Client) error {
	about, err := info(ctx, client, "replication")
	if err != nil || about["role"] == "slave" {
		return err
	}
	id, err := primary.ClusterMyID(ctx).Result()
	if err != nil {
		return err
	}
	return client.ClusterReplicate(ctx, id).Err()
}

// busiest is the primary with the most streams: of several leaders the one whose loss has the largest effect.
func busiest(ctx context.Context, c *provision.Cluster) (int, error) {
	id, most := 0, int64(-1)
	err := eachPrimary(ctx, c, func(n *provision.Node, client *redis.Client, _ map[string]string) error {
		keys, err := client.DBSize(ctx).Result()
		if keys > most && err == nil {
			id, most = n.ID, keys
		}
		return err
	})
	if id == 0 {
		return 0, errors.Join(err, errors.New("no node takes writes"))
	}
	return id, nil
}

// everyShard returns the smallest number of nodes that have a primary's data, itself included, over all primaries.
func everyShard(ctx context.Context, c *provision.Cluster) (int, error) {
	least := math.MaxInt
	err := eachPrimary(ctx, c, func(_ *provision.Node, _ *redis.Client, about map[string]string) error {
		least = min(least, 1+online(about))
		return nil
	})
	if least == math.MaxInt {
		return 0, errors.Join(err, errors.New("no node takes writes"))
	}
	return least, nil
}

// eachPrimary calls do with every node that answers and accepts writes, and its report on its replicas.
func eachPrimary(ctx context.Context, c *provision.Cluster, do func(n *provision.Node, client *redis.Client, about map[string]string) error) error {
	var errs []error
	for _, n := range c.Nodes {
		client, err := probe(n)
		if err != nil {
			return err
		}
		about, err := info(ctx, client, "replication")
		if err == nil && about["role"] == "master" {
			err = do(n, client, about)
		}
		errs = append(errs, err)
		_ = client.Close()
	}
	return errors.Join(errs...)
}

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
