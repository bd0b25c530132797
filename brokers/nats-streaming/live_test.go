package natsstreaming_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

var orders = livetest.Topic("orders", 1, "audit")

func opened(t *testing.T, target driver.Target, g driver.Guarantee, client map[string]any) *livetest.Rig {
	t.Helper()
	return livetest.OpenWith(t, "nats-streaming", livetest.Config(t, "nats-streaming", target, g, client, nil), orders, 64)
}

// numbers are the payloads from..until.
func numbers(from, until int) (list []string) {
	for n := from; n < until; n++ {
		list = append(list, fmt.Sprint(n))
	}
	return list
}

func TestClusterLosesNothingAcknowledgedWhenItsLeaderIsKilled(t *testing.T) {
	for _, version := range []string{"", "0.17.0"} {
		t.Run("version "+version, func(t *testing.T) { leaderIsKilled(t, version) })
	}
}

func leaderIsKilled(t *testing.T, version string) {
	o := server(t, quorum, nil)
	if o.TLS, o.Version = true, version; version != "" {
		testkit.Long(t)
	}
	cluster, target := livetest.Start(t, o)
	r := opened(t, target, quorum, map[string]any{"PubAckWait": "1s"})
	r.Consume(t, driver.ConsumerConfig{})
	next := 0
	more := func(n int) {
		t.Helper()
		before := r.Count().Acked
		for end := time.Now().Add(livetest.Patience); r.Count().Acked < before+n; next++ {
			r.Post(t, fmt.Sprint(next))
			if time.Now().After(end) {
				t.Fatalf("fewer than %d messages were acknowledged: %+v", n, r.Count())
			}
			time.Sleep(100 * time.Microsecond)
		}
	}
	leader := func() int {
		t.Helper()
		nodes, err := cluster.NodeOf(t.Context(), "leader")
		livetest.Must(t, err)
		return nodes[0]
	}
	more(300)
	before := leader()
	livetest.Must(t, cluster.Kill(t.Context(), before))
	more(300)
	if after := leader(); after == before {
		t.Errorf("node %d leads although it was killed", after)
	}
	livetest.Must(t, cluster.Restart(t.Context(), before))
	more(300)
	r.Settled(t)
	if c := r.Count(); c.Failed > 0 {
		t.Errorf("%d messages failed, the last with: %v", c.Failed, c.LastErr)
	}
}

func TestAServerThatLostItsMemoryGoesOnWithTheSameClients(t *testing.T) {
	in, target := livetest.Start(t, server(t, memory, nil))
	r := opened(t, target, memory, nil)
	r.Consume(t, driver.ConsumerConfig{})
	livetest.Must(t, r.Send(t, "0"))
	r.Settled(t)
	livetest.Must(t, in.Kill(t.Context(), 1))
	sent := make(chan error, 1)
	go func() { // what is sent meanwhile waits
		var batch []driver.Message
		for _, n := range numbers(1, 51) {
			batch = append(batch, driver.Message{Payload: []byte(n)})
		}
		sent <- r.Book.Send(t.Context(), r.Producer, batch...)
	}()
	livetest.Must(t, in.Restart(t.Context(), 1))
	livetest.Must(t, <-sent)
	livetest.Must(t, r.Fates(t, numbers(1, 51)...))
	r.Settled(t)
}

func TestWhatCameWhileAConsumerWasAwayIsDelivered(t *testing.T) {
	_, target := livetest.Start(t, server(t, memory, nil))
	for _, g := range []driver.Guarantee{once, memory} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			r := opened(t, target, g, nil)
			livetest.Must(t, r.Send(t, numbers(0, 1500)...)) // more than MaxInflight
			end := r.Consume(t, driver.ConsumerConfig{})
			livetest.Eventually(t, "the first come", func() bool { return r.Count().Received == 1500 })
			end()
			livetest.Must(t, r.Send(t, numbers(1500, 2000)...))
			r.Consume(t, driver.ConsumerConfig{})
			livetest.Eventually(t, "the others come", func() bool { return r.Count().Received == 2000 })
			if again := r.Count().Repeated; again > 0 && g.Delivery == driver.AtMostOnce {
				t.Errorf("%d messages were delivered again", again)
			}
			livetest.Must(t, r.Driver.(driver.Cleaner).Clean(t.Context()))
		})
	}
}

func TestGuaranteesThatTheServerDoesNotKeepAreRefused(t *testing.T) {
	_, inMemory := livetest.Start(t, server(t, memory, nil))
	_, onFiles := livetest.Start(t, server(t, logged, nil))
	attached, blind := onFiles, onFiles
	attached.Version, attached.Server = "", nil
	blind.Endpoints, blind.Server = nil, nil
	for name, c := range map[string]struct {
		target driver.Target
		asked  driver.Guarantee
		want   string
	}{
		"log of a memory store":              {inMemory, logged, "persistence: log"},
		"log, nobody to ask":                 {blind, logged, "persistence: log"},
		"fsync of a server we didn't start":  {attached, synced, "persistence: fsync"},
		"three replicas of one server":       {onFiles, quorum, "replicas: 3"},
		"three replicas, nobody to ask":      {blind, quorum, "persistence: log"},
		"partitions, on a server that keeps": {onFiles, logged, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := livetest.SetupError(t, "nats-streaming", livetest.Config(t, "nats-streaming", c.target, c.asked, nil, nil), orders)
			if c.want != "" {
				livetest.Refused(t, err, c.want)
				return
			}
			livetest.Must(t, err)
		})
	}
}

func TestAnotherClusterIDIsNamed(t *testing.T) {
	_, target := livetest.Start(t, server(t, memory, nil))
	other := livetest.Config(t, "nats-streaming", target, memory, map[string]any{"ClusterID": "orion"}, nil)
	_, err := livetest.Kind(t, "nats-streaming").Open(t.Context(), other)
	livetest.Says(t, err, `cluster ID "orion"`)
}
