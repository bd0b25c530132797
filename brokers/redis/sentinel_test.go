package redis

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/debian"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

const watched = "bench"

// init registers a sentinel, which is the server's program, so that the tests can start one. Its setting is the server to watch.
func init() {
	provision.Register(provision.Recipe{
		Broker: "redis-sentinel", Product: "redis", Versions: recipe().Versions[:1], Ports: []string{"client"}, MaxNodes: 1, Install: install,
		Configure: func(_ context.Context, n *provision.Node) error {
			text := fmt.Sprintf("bind 127.0.0.1\nport %d\ndir %s\nsentinel monitor %s %v 1\nsentinel down-after-milliseconds %[3]s 1000\n",
				n.Ports["client"], n.Data, watched, n.Cluster.Settings["watched"])
			return n.Write(confFile, []byte(text))
		},
		Command: func(n *provision.Node) (provision.Command, error) {
			return debian.Command(n, "usr/bin/"+sources[n.Cluster.Version].server, filepath.Join(n.Dir, confFile), "--sentinel")
		},
		Ready: func(ctx context.Context, n *provision.Node) error {
			c, err := probe(n)
			if err != nil {
				return err
			}
			defer c.Close()
			return c.Ping(ctx).Err()
		},
	})
}

func TestSentinelsNameTheServerThatTakesWrites(t *testing.T) {
	least := livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Ordered)
	in, servers := livetest.Start(t, provision.Options{Broker: "redis", Nodes: 2})
	host, port, err := net.SplitHostPort(servers.Addresses[0])
	livetest.Must(t, err)
	_, target := livetest.Start(t, provision.Options{Broker: "redis-sentinel", Server: map[string]any{"watched": host + " " + port}})
	target.Version, target.Server, target.Addresses = "", nil, append([]string{"127.0.0.1:1"}, target.Addresses...) // one sentinel is gone
	bySentinel := map[string]any{masterName: watched}
	drivertest.LogsIn(t, drivertest.Suite{Kind: livetest.Kind(t, "redis"), Guarantees: []driver.Guarantee{least}, Client: bySentinel}, drivertest.Way{Name: "streams", Target: target})
	once := livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered)
	drivertest.LogsIn(t, drivertest.Suite{Kind: livetest.Kind(t, "redis-pubsub"), Guarantees: []driver.Guarantee{once}, Client: bySentinel, Consumers: 1}, drivertest.Way{Name: "pub/sub", Target: target})

	opening := func(to driver.Target, name string) error {
		d, err := livetest.Kind(t, "redis").Open(t.Context(), livetest.Config(t, "redis", to, least, map[string]any{masterName: name}, nil))
		if err == nil {
			_ = d.Close()
		}
		return err
	}
	livetest.Says(t, opening(target, "other"), `the sentinel knows no server by the name "other"`)
	servers.Server = nil // as where it is attached
	livetest.Says(t, opening(servers, watched), "it is no sentinel")

	t.Run("also when it was replaced", func(t *testing.T) {
		r := livetest.Open(t, "redis", livetest.Config(t, "redis", target, least, bySentinel, nil), livetest.Topic("moved", 1, "s"))
		r.ConsumeAll(t)
		livetest.Must(t, r.Send(t, "before"))
		replica := redis.NewClient(&redis.Options{Addr: servers.Addresses[1], Protocol: 2})
		defer replica.Close()
		livetest.Eventually(t, "the replica has the message", func() bool { n, err := replica.XLen(t.Context(), "moved").Result(); return err == nil && n == 1 })
		livetest.Must(t, in.Kill(t.Context(), 1))
		livetest.Eventually(t, "a message is acknowledged by the replica", func() bool { return r.Send(t, "after") == nil })
		r.Settled(t)
		about, err := info(t.Context(), replica, "replication")
		if livetest.Must(t, err); about["role"] != "master" || !strings.Contains(fmt.Sprint(r.Received(0)), "after") {
			t.Errorf("the replica is %s, and %q was received", about["role"], r.Received(0))
		}
	})
}
