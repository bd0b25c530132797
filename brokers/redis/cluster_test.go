package redis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/matrixtest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

var (
	twice  = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 2, Acks: driver.AcksQuorum, Ordering: driver.Ordered}
	behind = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 2, Acks: driver.AcksLeader, Ordering: driver.Ordered}
)

func cluster(version string) provision.Options {
	return provision.Options{Broker: "redis-cluster", Version: version, Nodes: 6, Server: map[string]any{"cluster-replicas": 1}}
}

// inCluster is a rig over so many streams that every primary has some.
func inCluster(t *testing.T, target driver.Target, g driver.Guarantee) *livetest.Rig {
	t.Helper()
	return livetest.Open(t, "redis-cluster", livetest.Config(t, "redis-cluster", target, g, map[string]any{"mode": driver.Tuned}, nil), livetest.Topic("spread", 12, "s"))
}

func TestDriverKeepsThePromisesOnARedisCluster(t *testing.T) {
	o := provision.Options{Broker: "redis-cluster", Nodes: 3, Server: map[string]any{"appendonly": "yes", "appendfsync": "no"}}
	drivertest.Run(t, livetest.Tuned(t, o, once, logged))
}

func TestDriverKeepsThePromisesOnARedisClusterWithReplicas(t *testing.T) {
	testkit.Long(t)
	for _, version := range []string{"8.0.2", "valkey-8.1.1", "7.0.15"} {
		t.Run(version, func(t *testing.T) {
			s := livetest.Tuned(t, cluster(version), twice)
			s.Guarded = livetest.GuardedBroker(cluster(version))
			drivertest.Run(t, s)
		})
	}
}

func TestTheStockLibraryKeepsThePromisesOnARedisCluster(t *testing.T) {
	testkit.Long(t)
	drivertest.Run(t, livetest.Suite(t, provision.Options{Broker: "redis-cluster", Nodes: 3}, memory))
}

func TestEveryGuaranteeOfARedisClusterIsProved(t *testing.T) {
	matrixtest.Prove(t, matrixtest.Matrix{Broker: "redis-cluster"})
}

func TestWhatEveryCopyHasSurvivesTheLossOfAPrimary(t *testing.T) {
	testkit.Long(t)
	for _, version := range []string{"8.0.2", "valkey-8.1.1"} {
		t.Run(version, func(t *testing.T) {
			in, target := livetest.Start(t, cluster(version))
			r := inCluster(t, target, twice)
			r.Consume(t, driver.ConsumerConfig{})
			post(t, r, "before", 2000)
			lost, err := in.NodeOf(t.Context(), "leader")
			livetest.Must(t, err)
			livetest.Must(t, in.Kill(t.Context(), lost[0]))
			post(t, r, "meanwhile", 500)
			r.Settled(t)
			if c := r.Count(); c.Failed == 0 || c.Acked < 2000 {
				t.Errorf("%+v: what went to the replica that took over has no copy, so some must have failed", c)
			}
			now, err := in.NodeOf(t.Context(), "leader")
			livetest.Must(t, err)
			if now[0] == lost[0] {
				t.Errorf("node %d still leads", now[0])
			}
			livetest.Must(t, in.Restart(t.Context(), lost[0]))
			round := 0
			livetest.Eventually(t, "every primary has a replica again, and confirms", func() bool {
				failed := r.Count().Failed
				round++
				post(t, r, fmt.Sprint("after ", round), 24)
				r.Settled(t)
				return r.Count().Failed == failed
			})
		})
	}
}

// post sends messages of so many keys that every primary has some.
func post(t *testing.T, r *livetest.Rig, word string, n int) {
	t.Helper()
	batch := make([]driver.Message, n)
	for i := range batch {
		batch[i] = driver.Message{Key: []byte{byte(i % 24)}, Payload: fmt.Appendf(nil, "%s %d", word, i)}
	}
	livetest.Must(t, r.Book.Send(t.Context(), r.Producer, batch...))
}

// The replica of a primary stands still, so that it has little of what follows; then the primary is lost and the replica
// takes over. What the primary alone had confirmed is gone: nothing else is claimed. With acks: quorum nothing was
// confirmed.
func TestAFailoverLosesWhatOnlyThePrimaryHad(t *testing.T) {
	testkit.Long(t)
	for _, g := range []driver.Guarantee{behind, twice} {
		t.Run(string(g.Acks), func(t *testing.T) {
			in, target := livetest.Start(t, cluster(""))
			r := livetest.Open(t, "redis-cluster", livetest.Config(t, "redis-cluster", target, g, map[string]any{"mode": driver.Tuned}, nil), livetest.Topic("one", 1, "s"))
			livetest.Must(t, r.Send(t, "known to both"))
			hit, err := in.NodeOf(t.Context(), "leader")
			livetest.Must(t, err)
			primary := hit[0]
			for replica := 4; replica <= 6; replica++ { // one of them is its own
				livetest.Must(t, in.Pause(t.Context(), replica))
			}
			large := strings.Repeat("x", 990) // beyond what the kernel keeps for a replica
			const sent = 30_000
			n := sent
			if g.Acks == driver.AcksQuorum {
				n = 100
			}
			for i := range n {
				r.Post(t, fmt.Sprint(large, i))
			}
			livetest.Eventually(t, "all fates are known", func() bool { return r.Count().Pending == 0 })
			livetest.Must(t, in.Kill(t.Context(), primary))
			for replica := 4; replica <= 6; replica++ {
				livetest.Must(t, in.Resume(t.Context(), replica))
			}
			livetest.Eventually(t, "a replica has taken over", func() bool {
				now, err := in.NodeOf(t.Context(), "leader")
				return err == nil && now[0] > 3
			})
			r.Consume(t, driver.ConsumerConfig{})
			if g.Acks == driver.AcksQuorum {
				r.Settled(t)
				if c := r.Count(); c.Failed != n {
					t.Errorf("%+v: with no replica that answers, want all %d failed", c, n)
				}
				return
			}
			livetest.Eventually(t, "what the replica had has come", func() bool { return r.Count().Received > 0 })
			if c := r.Count(); c.Acked != n+1 || c.Lost == 0 {
				t.Errorf("%+v: want %d acknowledged by the primary, and some lost with it", c, n+1)
			}
		})
	}
}

func TestWhatAClusterCannotKeepIsRefused(t *testing.T) {
	kind := livetest.Kind(t, "redis-cluster")
	fits := func(g driver.Guarantee, version string, nodes int, client map[string]any) error {
		return kind.Refusal(livetest.Config(t, "redis-cluster", driver.Target{Version: version, Addresses: make([]string, nodes)}, g, client, nil), driver.Shape{})
	}
	flushed, loose := twice, once
	flushed.Persistence, loose.Replicas = driver.Fsync, 2
	var stock map[string]any // the default
	tuned := map[string]any{"mode": driver.Tuned}
	livetest.Must(t, fits(flushed, "8.0.2", 6, tuned))
	livetest.Refused(t, fits(flushed, "7.0.15", 6, tuned), "persistence: fsync")
	livetest.Refused(t, fits(loose, "8.0.2", 6, tuned), "replicas: 2")
	livetest.Refused(t, fits(twice, "8.0.2", 4, tuned), "nodes: 4")
	livetest.Refused(t, fits(twice, "8.0.2", 6, stock), "client.mode: stock")
	livetest.Refused(t, fits(once, "8.0.2", 3, stock), "client.mode: stock")
	livetest.Must(t, fits(behind, "8.0.2", 6, stock))
	_, err := kind.Server(twice, map[string]any{"cluster-replicas": 0})
	livetest.Refused(t, err, "server.cluster-replicas: 0")
	_, err = kind.Server(logged, map[string]any{"appendfsync": "everysec"})
	livetest.Refused(t, err, "server.appendfsync: everysec")
	livetest.RefusesServer(t, provision.Options{Broker: "redis-cluster", Nodes: 4}, "cluster-replicas", 1, "3 primaries")
}

// everysec may lose what it has confirmed for up to two seconds: it runs where memory is all that is promised.
func TestEverysecRunsWhereNoMoreThanMemoryIsPromised(t *testing.T) {
	server := map[string]any{"appendonly": "yes", "appendfsync": "everysec"}
	_, target := start(t, server)
	r := opened(t, target, memory, nil, livetest.Topic("everysec", 1, "s"))
	r.ConsumeAll(t)
	livetest.Must(t, r.Send(t, "flushed within a second"))
	r.Settled(t)
	if got := asked(t, target, "appendfsync"); got != "everysec" {
		t.Errorf("the server has appendfsync %s, want everysec left alone", got)
	}
	target.Version = "" // a server that is attached says how it is to be attached
	if got := livetest.Kind(t, "redis").Attaching(server, target); fmt.Sprint(got) != "[persistence=memory]" {
		t.Errorf("attaching asks for %q", got)
	}
}
