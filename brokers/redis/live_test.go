package redis_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func start(t *testing.T, server map[string]any) (*provision.Instance, driver.Target) {
	t.Helper()
	return livetest.Start(t, provision.Options{Broker: "redis", Server: server})
}

func opened(t *testing.T, target driver.Target, g driver.Guarantee, client map[string]any, topology driver.Topology) *livetest.Rig {
	t.Helper()
	return livetest.Open(t, "redis", livetest.Config(t, "redis", target, g, client, nil), topology)
}

// connected is a client of Redis's own.
func connected(t *testing.T, target driver.Target) *goredis.Client {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: target.Addresses[0], Protocol: 2})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// asked is a setting that the server has.
func asked(t *testing.T, target driver.Target, name string) string {
	t.Helper()
	all, err := connected(t, target).ConfigGet(t.Context(), name).Result()
	livetest.Must(t, err)
	return all[name]
}

// acknowledgedAgain sends until the server that was started again takes it.
func acknowledgedAgain(t *testing.T, r *livetest.Rig) {
	t.Helper()
	livetest.Eventually(t, "a message is acknowledged after the restart", func() bool { return r.Send(t, "after") == nil })
}

func TestAServerWithOnePasswordForAllLetsInWhoKnowsIt(t *testing.T) {
	_, locked := start(t, map[string]any{"requirepass": "sesame"})
	locked.Password = "sesame"
	livetest.Must(t, opened(t, locked, memory, nil, livetest.Topic("open", 1, "s")).Send(t, "let in"))
}

func TestServerSettingsAreRefusedByNameOrReachTheServer(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"appendfsink", "no", "no such setting"},
		{"maxmemory", "much", "memory value"},
		{"port", "1", "set by the recipe"},
		{"maxmemory", "1\nport 1", "one line"},
	} {
		livetest.RefusesServer(t, provision.Options{Broker: "redis", Server: map[string]any{"timeout": 0}}, c.name, c.value, c.says)
	}
	_, target := start(t, map[string]any{"maxmemory": "64mb", "save": ""})
	if got := asked(t, target, "maxmemory"); got != "67108864" {
		t.Errorf("the server has maxmemory %s, want the 64mb it was started with", got)
	}
}

func TestPersistenceIsRefusedOnAServerThatIsNotOurs(t *testing.T) {
	_, target := start(t, map[string]any{"appendonly": "yes"})
	target.Version = "" // as where it is attached
	err := livetest.SetupError(t, "redis", livetest.Config(t, "redis", target, logged, nil, nil), livetest.Topic("x", 1, "s"))
	livetest.Refused(t, err, "persistence: log")
	livetest.Says(t, err, "appendfsync: no; this server has yes and everysec")
}

func TestReplicasAreRefusedWhereThereAreNone(t *testing.T) {
	_, target := start(t, nil)
	err := livetest.SetupError(t, "redis", livetest.Config(t, "redis", target, copied, nil, nil), livetest.Topic("x", 1, "s"))
	livetest.Refused(t, err, "replicas: 3")
}

func TestWhatWasAcknowledgedSurvivesAKilledServer(t *testing.T) {
	for _, g := range []driver.Guarantee{logged, synced} {
		t.Run(string(g.Persistence), func(t *testing.T) {
			in, target := start(t, nil)
			before := asked(t, target, "appendonly")
			r := opened(t, target, g, nil, livetest.Topic("kept", 1, "s"))
			for i := range 100 {
				livetest.Must(t, r.Send(t, fmt.Sprint("before ", i)))
			}
			livetest.Must(t, livetest.Restart(t.Context(), in, 1))
			r.Consume(t, driver.ConsumerConfig{})
			acknowledgedAgain(t, r)
			r.Settled(t)
			if got := r.Received(0); got[0] != "before 0" {
				t.Errorf("%d messages came, first %q", len(got), got[0])
			}
			livetest.Must(t, r.Driver.(driver.Cleaner).Clean(t.Context()))
			if got := asked(t, target, "appendonly"); got != before {
				t.Errorf("after Clean the server has appendonly %s, before it %s", got, before)
			}
		})
	}
}

func TestConsumerComesBackAfterARestartThatForgotItsGroup(t *testing.T) {
	in, target := start(t, nil)
	r := opened(t, target, memory, nil, livetest.Topic("forgotten", 2, "a", "b"))
	r.ConsumeAll(t)
	livetest.Must(t, r.Send(t, "before"))
	livetest.Must(t, livetest.Restart(t.Context(), in, 1))
	acknowledgedAgain(t, r)
	livetest.Eventually(t, "both subscriptions have it", func() bool {
		return slices.Contains(r.Received(0), "after") && slices.Contains(r.Received(1), "after")
	})
}

func TestMessagesOfOneKeyKeepTheirOrderOverSeveralStreams(t *testing.T) {
	_, target := start(t, nil)
	r := opened(t, target, memory, nil, livetest.Topic("keyed", 4, "s"))
	r.ConsumeAll(t)
	r.KeysKeepTheirOrder(t)
}

func TestStreamsAreTrimmedToWhatIsNotAcknowledgedByAll(t *testing.T) {
	_, target := start(t, nil)
	r := opened(t, target, memory, nil, livetest.Topic("trimmed", 1, "fast", "slow"))
	c := connected(t, target)
	length := func() int64 {
		n, err := c.XLen(t.Context(), "trimmed").Result()
		livetest.Must(t, err)
		return n
	}
	r.Consume(t, driver.ConsumerConfig{})
	const sent = 1000
	for i := range sent {
		livetest.Must(t, r.Send(t, fmt.Sprint(i)))
	}
	livetest.Eventually(t, "the fast one has all", func() bool { return len(r.Received(0)) == sent })
	time.Sleep(2500 * time.Millisecond) // two rounds of trimming
	if n := length(); n != sent {
		t.Errorf("%d entries are left, though one subscription has read none of %d", n, sent)
	}
	r.Consume(t, driver.ConsumerConfig{Subscription: 1})
	livetest.Eventually(t, "the slow one has all", func() bool { return len(r.Received(1)) == sent })
	livetest.Eventually(t, "most are gone", func() bool { return length() < sent/2 })
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "redis")}, target, memory,
		drivertest.Limit{Name: "MAXLEN", Topic: map[string]any{"MAXLEN": 100, "trim": "none"}, Full: drivertest.DropsOldest})
}

func TestQuorumFailsWithoutReplicas(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "redis", Nodes: 3})
	r := opened(t, target, copied, map[string]any{"WAIT": "200ms"}, livetest.Topic("copied", 1, "s"))
	livetest.Must(t, r.Send(t, "with replicas"))
	livetest.Must(t, in.Kill(t.Context(), 2))
	livetest.Must(t, r.Send(t, "with one of two"))
	livetest.Must(t, in.Kill(t.Context(), 3))
	livetest.Says(t, r.Send(t, "alone"), "0 of 1 replicas")
}
