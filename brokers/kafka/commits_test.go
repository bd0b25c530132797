package kafka

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
)

// commits counts the requests that commit offsets.
type commits struct{ atomic.Int64 }

// OnBrokerWrite implements kgo.HookBrokerWrite.
func (c *commits) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	if key == int16(kmsg.OffsetCommit) {
		c.Add(1)
	}
}

// handed counts the batches on their way to a sink.
type handed struct {
	driver.Sink
	batches atomic.Int64
}

func (h *handed) Deliver(batch []driver.Received) {
	h.batches.Add(1)
	h.Sink.Deliver(batch)
}

// commitsOncePerPoll reads a topic of eight partitions that holds everything already: a poll brings several of them, each
// of which is delivered by itself, and one request commits them all, as Java's commitSync does.
func commitsOncePerPoll(t *testing.T, client *kgo.Client, target driver.Target, g driver.Guarantee) {
	const partitions, messages = 8, 4000
	topology := livetest.Topic("commits-"+string(g.Delivery), partitions, "s")
	spread, manual := map[string]any{"partitioner": roundRobin}, map[string]any{"enable.auto.commit": false}
	unordered := atLeast // whatever the consumer promises: a producer at most once may meet a partition without a leader
	unordered.Ordering = driver.Unordered
	r := livetest.OpenWith(t, "kafka", livetest.Config(t, "kafka", target, unordered, spread, nil), topology, messages)
	var payloads []string
	for n := range messages {
		payloads = append(payloads, fmt.Sprint(n))
	}
	livetest.Must(t, r.Send(t, payloads...))
	topology.Existing = true
	k := livetest.SetUp(t, "kafka", livetest.Config(t, "kafka", target, g, manual, nil), topology).(*kafka)
	requests, sink := &commits{}, &handed{Sink: r.Sink(0)}
	k.common = append(k.common, kgo.WithHooks(requests))
	end := livetest.Consume(t, k, driver.ConsumerConfig{}, sink)
	r.Settled(t)
	admin, name := kadm.NewClient(client), groupOf(topology, topology.Topics[0].Name, "s")
	livetest.Eventually(t, "all messages of all partitions are committed", func() bool {
		offsets, err := admin.FetchOffsets(t.Context(), name)
		livetest.Must(t, err)
		sum, of := int64(0), 0
		offsets.Each(func(o kadm.OffsetResponse) { sum, of = sum+o.At, of+1 })
		return sum == messages && of == partitions
	})
	end()
	if n, batches := requests.Load(), sink.batches.Load(); 2*n > batches {
		t.Errorf("%d requests commit what was delivered in %d batches of one partition each", n, batches)
	}
}
