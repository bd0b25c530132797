package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Redis Cluster (broker "redis-cluster"): a stream belongs to the primary that has the slot of its name. If a primary is lost,
// the others elect one of its replicas.
const (
	clusterCopies  = 3                  // the most copies of a message: 9 nodes
	votes          = 3                  // the fewest primaries for an election: the rest is a majority
	copiesPerShard = "cluster-replicas" // of redis-cli --cluster create
	clusterName    = "redis-cluster"
)

// A replica that was asked before its flush (WAITAOF) reports the flush a second later, with its next report.
var clusterSettings = func() []driver.Setting {
	settings := slices.Concat(streamSettings, connectionSettings)
	i := slices.IndexFunc(settings, func(s driver.Setting) bool { return s.Name == "WAIT" })
	settings[i].Default = 2 * time.Second
	return settings
}()

func clusterKind() driver.Kind {
	return driver.Kind{
		Without: map[driver.Class]string{driver.Acknowledging: "one XACK for what a read has brought", driver.Publishing: "the run's window", driver.Threading: "by the load"},
		Client:  library, Settings: clusterSettings, Supports: clusterSupports, Failover: true, Nodes: clusterNodes,
		Fits: clusterFits, Server: clusterServer, Maps: clusterNatives, Keeps: keeps, ServerKeeps: drops.By(clusterName), Share: driver.TakeTurnsAtPartitions, Headers: driver.Always, Attaching: attaching, Open: openCluster, Found: finds, Marks: marks,
	}
}

// clusterNodes implements driver.Kind.Nodes.
func clusterNodes(replicas int) int {
	if replicas < 2 {
		return 1
	}
	return votes * replicas
}

func clusterSupports(g driver.Guarantee) error {
	switch {
	case g.Replicas > clusterCopies:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "at most %d", clusterCopies)
	case g.Replicas > 1 && g.Delivery == driver.AtMostOnce:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas),
			"a replica that takes over may not know what was delivered, and delivers it again; at-most-once has 1 here")
	}
	g.Replicas = 1 // WAITAOF covers what WAIT doesn't
	return supports(g)
}

// clusterFits implements driver.Kind.Fits.
func clusterFits(c driver.Config, s driver.Shape) error {
	g := c.Guarantee
	each := max(1, g.Replicas)
	if n, err := strconv.Atoi(provision.Text(c.Target.Server[copiesPerShard])); err == nil {
		each = max(each, n+1)
	}
	nodes, stock := len(c.Target.Addresses), driver.UsesStock(c.Client)
	switch {
	case c.Target.Version != "" && (nodes%each != 0 || nodes < clusterNodes(each)):
		return driver.Unsupported(fmt.Sprintf("nodes: %d", nodes),
			"a majority of at least %d primaries elects a replica, and each primary has %d; use nodes: %d", votes, each-1, clusterNodes(each))
	case stock && g.Acks == driver.AcksNone:
		return driver.Unsupported("client.mode: stock", "a ClusterClient writes a pipeline to several nodes and doesn't report when it is written; acks: none has tuned only")
	case stock && everyCopy(g) > 0:
		return driver.Unsupported("client.mode: stock", "WAIT follows XADD on the same connection, which a ClusterClient doesn't name; acks: quorum has tuned only")
	case flushedCopies(g) && c.Target.Version == "7.0.15":
		return driver.Unsupported("persistence: fsync", "WAITAOF, which reports that replicas have flushed a message, came with Redis 7.2; use acks: leader, or log")
	}
	return fits(c, s)
}

// clusterServer implements driver.Kind.Server: any node may become the primary of a stream, so all must keep the guarantee.
func clusterServer(g driver.Guarantee, settings map[string]any) (map[string]any, error) {
	settings = maps.Clone(settings)
	if settings == nil {
		settings = map[string]any{}
	}
	if given, ok := settings[copiesPerShard]; !ok {
		settings[copiesPerShard] = max(1, g.Replicas) - 1
	} else if n, err := strconv.Atoi(fmt.Sprint(given)); err != nil || n < g.Replicas-1 {
		return nil, driver.Unsupported(fmt.Sprintf("server.%s: %v", copiesPerShard, given), "replicas: %d needs %d beside each primary", g.Replicas, g.Replicas-1)
	}
	flushing, ok := wanted[g.Persistence]
	if !ok {
		return settings, nil
	}
	for name, needed := range map[string]string{"appendonly": "yes", "appendfsync": flushing} {
		given, ok := settings[name]
		switch {
		case !ok:
			settings[name] = needed
		case given != needed && given != "always":
			return nil, driver.Unsupported(fmt.Sprintf("server.%s: %v", name, given), "persistence: %s needs %s", g.Persistence, needed)
		}
	}
	return settings, nil
}

// clusterNatives implements driver.Kind.Maps.
func clusterNatives(g driver.Guarantee) []driver.Native {
	one := g
	one.Replicas = 1
	list := natives(one)
	if n := everyCopy(g); n > 0 {
		wait := driver.Native{Side: driver.ProducerSide, Name: "WAIT", Value: strconv.Itoa(n)}
		if flushedCopies(g) {
			wait.Name = "WAITAOF 1"
		}
		list = append(list, wait)
	}
	return append(list, driver.Native{Side: driver.ServerSide, Name: copiesPerShard, Value: strconv.Itoa(g.Replicas - 1)})
}

// everyCopy is the number of replicas that acks: quorum waits for: all. An election doesn't consider which of them has a message.
func everyCopy(g driver.Guarantee) int {
	if g.Acks != driver.AcksQuorum {
		return 0
	}
	return max(0, g.Replicas-1)
}

func flushedCopies(g driver.Guarantee) bool { return everyCopy(g) > 0 && g.Persistence == driver.Fsync }

func openCluster(ctx context.Context, c driver.Config) (driver.Driver, error) {
	d := newSession(c)
	if err := d.inCluster(ctx); err != nil {
		return nil, err
	}
	d.cluster = d.dialCluster()
	d.control = d.cluster
	return streams{d}, nil
}

// inCluster returns an error if no node says that it belongs to a cluster.
func (d *session) inCluster(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openBudget)
	defer cancel()
	var first error // returned for all others: diagnosing each takes a while
	for _, address := range d.config.Target.Addresses {
		client := d.dial(address, nil)
		about, err := info(ctx, client, "cluster")
		if err == nil && about["cluster_enabled"] == "1" {
			err := d.reachesAll(ctx, client, address)
			_ = client.Close()
			return err
		}
		_ = client.Close()
		if first == nil && err != nil {
			first = refusal(address, d.config.Target, err)
		} else if first == nil {
			first = fmt.Errorf("redis at %s is no node of a Redis Cluster (cluster-enabled)", address)
		}
	}
	return cmp.Or(first, errors.New("no address to connect to"))
}

// reachesAll checks the addresses of a cluster's nodes, and returns an error for those that can't be reached. A cluster that is
// being formed lists none.
func (d *session) reachesAll(ctx context.Context, client *redis.Client, address string) error {
	shards, err := client.ClusterShards(ctx).Result()
	if err != nil {
		return nil //nolint:nilerr // the node has answered before, but may be too old for the command
	}
	var told []string
	for _, s := range shards {
		for _, n := range s.Nodes {
			port := n.Port
			if d.config.Target.TLS != nil {
				port = n.TLSPort
			}
			if n.Health == "online" && n.Endpoint != "" && n.Endpoint != "?" { // otherwise it is the node that was asked, or not known
				told = append(told, net.JoinHostPort(n.Endpoint, strconv.FormatInt(port, 10)))
			}
		}
	}
	return driver.Advertised(ctx, clusterName, address, "cluster-announce-ip, cluster-announce-port", d.config.Target.Addresses, told)
}

// dialCluster makes a client that finds the node of each command itself, with one connection to each node.
func (d *session) dialCluster() *redis.ClusterClient {
	o := d.options("", nil)
	c := &redis.ClusterOptions{
		// The client repeats nothing: a repeated read would leave behind the messages of the first one, unnoticed.
		MaxRedirects: -1,
		Addrs:        d.config.Target.Addresses, PoolSize: o.PoolSize, MaxActiveConns: o.MaxActiveConns, Username: o.Username, Password: o.Password, Protocol: o.Protocol, ClientName: o.ClientName, Dialer: o.Dialer,
		PipelinePoolSize: o.PipelinePoolSize, DialerRetries: o.DialerRetries, DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		ReadBufferSize: o.ReadBufferSize, WriteBufferSize: o.WriteBufferSize, ConnMaxIdleTime: o.ConnMaxIdleTime, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: o.MaintNotificationsConfig, DisableIdentity: true,
	}
	return redis.NewClusterClient(c)
}

// owner is the address of the primary that has the stream, as far as known.
func (d *session) owner(ctx context.Context, stream string) (string, error) {
	if d.cluster == nil {
		return d.address, nil
	}
	c, err := d.cluster.MasterForKey(ctx, stream)
	if err != nil {
		return "", fmt.Errorf("find the primary of stream %s: %w", stream, err)
	}
	return c.Options().Addr, nil
}

// elsewhere makes the client look up the owners again, and waits a moment.
func (d *session) elsewhere(ctx context.Context) {
	if d.cluster != nil {
		d.cluster.ReloadState(ctx)
	}
	_ = socket.Pause(ctx, retryPause)
}

// another is a separate client for commands on any stream.
func (d *session) another() redis.UniversalClient {
	if d.cluster != nil {
		return d.dialCluster()
	}
	return d.dial(d.address, nil)
}

// everywhere asks every node that accepts messages.
func (d *session) everywhere(ctx context.Context, ask func(ctx context.Context, c *redis.Client) error) error {
	if d.cluster != nil {
		return d.cluster.ForEachShard(ctx, ask)
	}
	return ask(ctx, d.control.(*redis.Client))
}

// sideBySide reads each stream over a connection of its own: a command may name streams of one slot only.
func (d *session) sideBySide(ctx context.Context, c driver.ConsumerConfig, streams []string, s driver.Sink, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s = driver.OneAtATime(s)
	errs := make([]error, len(streams))
	var left atomic.Int64
	left.Store(int64(len(streams)))
	var wg sync.WaitGroup
	for i, stream := range streams {
		wg.Go(func() {
			errs[i] = d.keepConsuming(ctx, c, []string{stream}, s, func() {
				if left.Add(-1) == 0 {
					ready()
				}
			})
			if errs[i] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
