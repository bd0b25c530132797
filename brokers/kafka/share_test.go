package kafka

import (
	"context"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func unordered(g driver.Guarantee) driver.Guarantee {
	g.Ordering = driver.Unordered
	return g
}

var inShares = map[string]any{"group.protocol": shareGroups}

func TestContractHoldsWithShareGroups(t *testing.T) {
	testkit.Long(t)
	s := livetest.Suite(t, provision.Options{Broker: "kafka"}, unordered(atLeast), unordered(leaderOnly))
	s.Client = inShares
	drivertest.Run(t, s)
}

func TestShareGroupsAreRefusedWhereTheyKeepLess(t *testing.T) {
	for name, c := range map[string]struct {
		g       driver.Guarantee
		client  map[string]any
		version string
		refused string // "": it fits
	}{
		"ordered":                        {g: atLeast, refused: "client.group.protocol: share"},
		"exactly once":                   {g: unordered(exactly), refused: "client.group.protocol: share"},
		"at most once":                   {g: unordered(atMost), refused: "client.group.protocol: share"},
		"Kafka 3":                        {g: unordered(atLeast), version: "3.9.2", refused: "client.group.protocol: share"},
		"Kafka 4.1, which has a preview": {g: unordered(atLeast), version: "4.1.0", refused: "client.group.protocol: share"},
		"offsets committed by hand":      {g: unordered(atLeast), client: map[string]any{"enable.auto.commit": false}, refused: `client setting "enable.auto.commit"`},
		"heartbeats":                     {g: unordered(atLeast), client: map[string]any{"heartbeat.interval.ms": 700}, refused: `client setting "heartbeat.interval.ms"`},
		"Kafka 4.2":                      {g: unordered(atLeast), version: "4.2.0"},
		"Kafka 4.10":                     {g: unordered(atLeast), version: "4.10.0"},
		"a version that isn't known":     {g: unordered(leaderOnly), client: map[string]any{"max.poll.records": 100}},
	} {
		t.Run(name, func(t *testing.T) {
			client := map[string]any{"group.protocol": shareGroups}
			for setting, value := range c.client {
				client[setting] = value
			}
			config := livetest.Config(t, "kafka", driver.Target{Version: c.version}, c.g, client, nil)
			err := livetest.Kind(t, "kafka").Refusal(config, driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 2, MaxBytes: 100, InFlight: 1})
			if c.refused == "" {
				livetest.Must(t, err)
				return
			}
			livetest.Refused(t, err, c.refused)
		})
	}
}

// comesAgain has another member of the share group take messages away, of which it acknowledges half: those come to
// nobody else, the others do.
func comesAgain(t *testing.T, target driver.Target) {
	const messages = 100
	topology := livetest.Topic("shared", 1, "s")
	r := livetest.Open(t, "kafka", livetest.Config(t, "kafka", target, unordered(atLeast), inShares, nil), topology)
	var payloads []string
	for n := range messages {
		payloads = append(payloads, fmt.Sprint(n))
	}
	livetest.Must(t, r.Send(t, payloads...))
	other, err := kgo.NewClient(kgo.SeedBrokers(target.Addresses...), kgo.ShareGroup(groupOf(driver.Topology{}, "shared", "s")), kgo.ConsumeTopics("shared"))
	livetest.Must(t, err)
	defer other.Close()
	handled := map[string]bool{}
	ctx, cancel := context.WithTimeout(t.Context(), livetest.Patience)
	defer cancel()
	for len(handled) == 0 && ctx.Err() == nil {
		n := 0
		other.PollRecords(ctx, 0).EachRecord(func(m *kgo.Record) {
			if n++; n%2 == 0 {
				m.Ack(kgo.AckRelease)
				return
			}
			m.Ack(kgo.AckAccept)
			handled[string(m.Value)] = true
		})
	}
	livetest.Must(t, other.FlushAcks(ctx))
	livetest.Must(t, other.LeaveGroupContext(ctx))
	if len(handled) == 0 {
		t.Fatal("the other member was given nothing")
	}
	end := r.Consume(t, driver.ConsumerConfig{})
	livetest.Eventually(t, "what was not acknowledged comes", func() bool { return r.Count().Received == messages-len(handled) })
	end()
	for _, p := range r.Received(0) {
		if handled[p] {
			t.Errorf("message %s came again although it was acknowledged", p)
		}
	}
}
