package jetstream_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

var (
	orders = livetest.Topic("orders", 1, "audit")
	quorum = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 3, Acks: driver.AcksQuorum, Ordering: driver.Unordered}
)

func opened(t *testing.T, target driver.Target, g driver.Guarantee, client map[string]any, slots int) *livetest.Rig {
	t.Helper()
	return livetest.OpenWith(t, "jetstream", livetest.Config(t, "jetstream", target, g, client, nil), orders, slots)
}

// numbers are the payloads from..until.
func numbers(from, until int) (list []string) {
	for n := from; n < until; n++ {
		list = append(list, fmt.Sprint(n))
	}
	return list
}

func TestClusterWithTLSLosesNothingAcknowledgedWhenItsLeaderIsKilled(t *testing.T) {
	cluster, target := livetest.Start(t, provision.Options{Broker: "jetstream", Nodes: 3, TLS: true})
	r := opened(t, target, quorum, map[string]any{"PublishAsyncTimeout": "2s"}, 64)
	end := r.Consume(t, driver.ConsumerConfig{})
	next := 0
	more := func() {
		t.Helper()
		acked := r.Count().Acked + 500
		for end := time.Now().Add(livetest.Patience); r.Count().Acked < acked; next++ {
			r.Post(t, fmt.Sprint(next))
			if time.Now().After(end) {
				t.Fatalf("fewer than %d messages were acknowledged: %+v", acked, r.Count())
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
	more()
	before := leader()
	livetest.Must(t, cluster.Kill(t.Context(), before))
	more()
	if after := leader(); after == before {
		t.Errorf("node %d leads although it was killed", after)
	}
	livetest.Must(t, cluster.Restart(t.Context(), before))
	more()
	livetest.Eventually(t, "what was acknowledged arrives", func() bool { return r.Count().Lost == 0 })
	end()
	c := r.Count()
	t.Logf("%+v", c)
}

func TestConsumerAndProducerGoOnAfterARestart(t *testing.T) {
	for _, g := range []driver.Guarantee{fileLeast, exactlyOnce} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			in, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
			r := opened(t, target, g, map[string]any{"AckWait": "1s"}, 16)
			end := r.Consume(t, driver.ConsumerConfig{})
			livetest.Must(t, r.Send(t, numbers(0, 100)...))
			livetest.Must(t, livetest.Restart(t.Context(), in, 1))
			// What is sent before the client has connected again waits in its buffer.
			for id := 100; r.Count().Acked < 200 && id < 100_000; id++ {
				r.Post(t, fmt.Sprint(id))
				time.Sleep(time.Millisecond)
			}
			livetest.Eventually(t, "as many are acknowledged again, and all arrive", func() bool { c := r.Count(); return c.Acked >= 200 && c.Lost == 0 })
			time.Sleep(1500 * time.Millisecond) // longer than AckWait
			end()
			c := r.Count()
			if c.Late > 0 && g.Ordering == driver.Ordered {
				t.Errorf("%d messages came after a later one", c.Late)
			}
			// The server has forgotten the acknowledgements of the last moment before it was killed.
			if c.Repeated > 0 && g.Delivery == driver.ExactlyOnce {
				t.Errorf("%d messages arrived more than once", c.Repeated)
			}
		})
	}
}

// slow takes its time with every message, as an application does.
type slow struct {
	driver.Sink
	each time.Duration
}

func (s slow) Deliver(batch []driver.Received) {
	time.Sleep(s.each * time.Duration(len(batch)))
	s.Sink.Deliver(batch)
}

// All messages together take more than twice as long as the server waits for an acknowledgement.
func TestWhatWaitsForASlowConsumerDoesNotComeAgain(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	for name, c := range map[string]struct {
		g      driver.Guarantee
		client map[string]any
		delay  time.Duration // what the driver is told of it
	}{
		"exactly-once-in-batches":    {g: exactlyOnce, client: map[string]any{"consume": "fetch"}},
		"at-least-once-in-batches":   {g: fileLeast, client: map[string]any{"consume": "fetch"}},
		"exactly-once-by-callback":   {g: exactlyOnce, delay: pace},
		"at-least-once-by-callback":  {g: fileLeast, delay: pace},
		"at-least-once-stock-client": {g: fileLeast, client: map[string]any{"mode": "stock"}, delay: pace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := map[string]any{"AckWait": "2s"}
			maps.Copy(client, c.client)
			r := livetest.Open(t, "jetstream", livetest.Config(t, "jetstream", target, c.g, client, nil), livetest.Topic(name, 1, "s"))
			const n = 600
			livetest.Must(t, r.Send(t, numbers(0, n)...))
			livetest.Consume(t, r.Driver, driver.ConsumerConfig{Delay: c.delay}, slow{r.Sink(0), pace})
			livetest.Eventually(t, "all arrive", func() bool { return r.Count().Received >= n })
			queue, err := r.Driver.(driver.Gauge).Queue(t.Context(), 0, 0)
			if livetest.Must(t, err); queue.Delivered != n {
				t.Errorf("the server delivered %d times, want each of %d messages once", queue.Delivered, n)
			}
		})
	}
}

const pace = 8 * time.Millisecond

func TestAckPolicyAllAcknowledgesTheLastMessageToo(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	r := opened(t, target, memoryLeast, map[string]any{"AckPolicy": "all", "AckWait": "1s"}, 16)
	r.Consume(t, driver.ConsumerConfig{})
	livetest.Must(t, r.Send(t, numbers(0, 600)...))
	r.Settled(t)
	time.Sleep(1500 * time.Millisecond) // longer than AckWait: what was not acknowledged would come again
	if n := r.Count().Repeated; n > 0 {
		t.Errorf("%d messages arrived more than once", n)
	}
	if err := r.Driver.Consume(t.Context(), driver.ConsumerConfig{ID: 1}, r.Sink(0), func() {}); err == nil {
		t.Error("a second consumer of the subscription was accepted; it would acknowledge what the first has not seen")
	}
}

func requireSetupRefused(t *testing.T, target driver.Target, g driver.Guarantee, setting string) {
	t.Helper()
	livetest.Refused(t, livetest.SetupError(t, "jetstream", livetest.Config(t, "jetstream", target, g, nil, nil), orders), setting)
}

func TestReplicasAreRefusedByASingleServer(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	requireSetupRefused(t, target, quorum, "replicas: 3")
}

func TestAckPoliciesThatWouldWeakenOrExceedTheGuaranteeAreRefused(t *testing.T) {
	nowhere := driver.Target{Addresses: []string{"127.0.0.1:1"}}
	for _, c := range []struct {
		policy string
		asked  driver.Guarantee
	}{
		{"none", memoryLeast},
		{"none", exactlyOnce},
		{"all", exactlyOnce},
		{"all", memoryOnce},
		{"explicit", memoryOnce},
	} {
		_, err := livetest.Kind(t, "jetstream").Open(t.Context(), livetest.Config(t, "jetstream", nowhere, c.asked, map[string]any{"AckPolicy": c.policy}, nil))
		livetest.Refused(t, err, "client.AckPolicy: "+c.policy)
	}
}

func TestServerIsStartedAsPersistenceNeedsItUnlessTheSpecContradicts(t *testing.T) {
	kind := livetest.Kind(t, "jetstream")
	for _, g := range []driver.Guarantee{fileLeast, memoryLeast} {
		if got, err := kind.Server(g, nil); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", g.Persistence, got, err)
		}
	}
	for _, asked := range []map[string]any{nil, {"jetstream": map[string]any{"sync_interval": "always"}}} {
		if got, err := kind.Server(synced, asked); err != nil || got["jetstream.sync_interval"] != "always" {
			t.Errorf("fsync with %v: %v, %v", asked, got, err)
		}
	}
	var refusal *driver.ErrUnsupported
	if _, err := kind.Server(synced, map[string]any{"jetstream.sync_interval": "10s"}); !errors.As(err, &refusal) {
		t.Errorf("fsync with a server that syncs every 10 s: %v", err)
	}
}

func TestFsyncIsRefusedWhereTheServerWritesAtIntervals(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	attached := target
	attached.Endpoints, attached.Server = nil, nil
	t.Run("provisioned", func(t *testing.T) { requireSetupRefused(t, target, synced, "persistence: fsync") })
	t.Run("attached without a monitoring address", func(t *testing.T) { requireSetupRefused(t, attached, synced, "persistence: fsync") })
}

// A server that takes longer to answer than PublishAsyncTimeout would be given the same messages again and again, and take longer still.
func TestAServerThatAnswersLateIsNotGivenMoreAndMore(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "jetstream"})
	for _, mode := range []string{"stock", "tuned"} {
		t.Run(mode, func(t *testing.T) {
			c := livetest.Config(t, "jetstream", target, fileLeast, map[string]any{"PublishAsyncTimeout": "100ms", "mode": mode}, nil)
			const n = 200
			r := livetest.OpenWith(t, "jetstream", c, livetest.Topic("late-"+mode, 1, "s"), n)
			livetest.Must(t, in.Pause(t.Context(), 1))
			r.Post(t, numbers(0, n)...)
			time.Sleep(4 * time.Second)
			livetest.Must(t, in.Resume(t.Context(), 1))
			livetest.Eventually(t, "all are acknowledged", func() bool { return r.Count().Acked == n })
			queue, err := r.Driver.(driver.Gauge).Queue(t.Context(), 0, 0)
			if livetest.Must(t, err); queue.Published > 10*n {
				t.Errorf("%d messages were published %d times", n, queue.Published)
			}
		})
	}
}
