package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
)

func TestRelaysAreRefusedWhereTheyKeepLess(t *testing.T) {
	const refused = "relays: 2"
	for name, c := range map[string]struct {
		g       driver.Guarantee
		client  map[string]any
		version string
		refused string // "": it fits
	}{
		"at most once":               {g: atMost, refused: refused},
		"share groups":               {g: unordered(atLeast), client: inShares, refused: refused},
		"Kafka 2.2":                  {g: atLeast, version: "2.2.0", refused: refused},
		"at least once":              {g: atLeast},
		"at least once, leader only": {g: leaderOnly, version: "3.9.2"},
		"exactly once":               {g: exactly, version: "4.3.1", client: map[string]any{"group.protocol": brokerGroups}},
	} {
		t.Run(name, func(t *testing.T) {
			config := livetest.Config(t, "kafka", driver.Target{Version: c.version}, c.g, c.client, nil)
			err := livetest.Kind(t, "kafka").Refusal(config, driver.Shape{
				Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1, Relays: 2, MaxBytes: 100, InFlight: 1,
			})
			if c.refused == "" {
				livetest.Must(t, err)
				return
			}
			livetest.Refused(t, err, c.refused)
		})
	}
}

// takesOver has a relay produce everything and commit nothing, and then another one take its place, as if it had been killed and
// started again: exactly once nothing of what the first produced is delivered, at least once all of it is, twice.
func takesOver(t *testing.T, target driver.Target, g driver.Guarantee) {
	const before, after = 100, 50
	topology := livetest.Topic("relayed-"+string(g.Delivery), 1, "s")
	topology.Topics[0].Out = topology.Topics[0].Name + "-out"
	r := livetest.Open(t, "kafka", livetest.Config(t, "kafka", target, g, nil, nil), topology)
	r.ConsumeAll(t)
	produced := counts(t, target, topology.Topics[0].Out)

	never := map[string]any{"auto.commit.interval.ms": 3_600_000}
	if g.Delivery == driver.ExactlyOnce {
		never = map[string]any{"commit.interval.ms": 50_000}
	}
	first, _ := relayOne(t, target, g, topology, never)
	livetest.Must(t, r.Send(t, numbered(0, before)...))
	livetest.Eventually(t, "all is produced", func() bool { return produced.Load() >= before })
	second, end := relayOne(t, target, g, topology, nil)
	if err := <-first; !errors.Is(err, kerr.FencedInstanceID) {
		t.Errorf("the first relay ended with %v", err)
	}
	livetest.Must(t, r.Send(t, numbered(before, after)...))
	livetest.Eventually(t, "what was produced and not committed is produced again", func() bool { return produced.Load() >= 2*before+after })
	r.Settled(t)
	end()
	livetest.Must(t, <-second)

	c := r.Count()
	if c.Received != before+after || c.Late > 0 {
		t.Errorf("%+v", c)
	}
	repeated := 0
	if g.Delivery == driver.AtLeastOnce {
		repeated = before
	}
	if c.Repeated != repeated {
		t.Errorf("%d messages came more than once, want %d", c.Repeated, repeated)
	}
}

func numbered(from, n int) (payloads []string) {
	for i := range n {
		payloads = append(payloads, fmt.Sprint(from+i))
	}
	return payloads
}

// relayOne starts a relay by the name of 1 and waits until the broker knows it. ended says how it ended, by itself or by end.
func relayOne(t *testing.T, target driver.Target, g driver.Guarantee, topology driver.Topology, client map[string]any) (ended <-chan error, end func()) {
	t.Helper()
	topology.Existing = true
	k := livetest.SetUp(t, "kafka", livetest.Config(t, "kafka", target, g, client, nil), topology).(driver.Relayer)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	known, how := make(chan struct{}), make(chan error, 1)
	go func() { how <- k.Relay(ctx, driver.RelayConfig{ID: 1, MaxBytes: 1000}, func() { close(known) }) }()
	select {
	case <-known:
	case err := <-how:
		t.Fatalf("it ended at once: %v", err)
	}
	return how, cancel
}

// counts counts the records of a topic, also those of transactions that are open or were aborted.
func counts(t *testing.T, target driver.Target, topic string) *atomic.Int64 {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(target.Addresses...), kgo.ConsumeTopics(topic))
	livetest.Must(t, err)
	n := new(atomic.Int64)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			fetches := client.PollFetches(context.Background())
			if fetches.IsClientClosed() {
				return
			}
			n.Add(int64(fetches.NumRecords()))
		}
	}()
	t.Cleanup(func() { client.Close(); <-ended })
	return n
}
