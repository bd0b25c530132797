package kafka

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAPartitionIsLedWhenEveryBrokerKnowsItsLeader(t *testing.T) {
	name := "t"
	answer := func(edit func(*kmsg.MetadataResponseTopicPartition)) *kmsg.MetadataResponse {
		var topic kmsg.MetadataResponseTopic
		topic.Topic = &name
		for i := range int32(2) {
			p := kmsg.MetadataResponseTopicPartition{Partition: i, Leader: i + 1, ISR: []int32{1, 2}}
			if i == 1 && edit != nil {
				edit(&p)
			}
			topic.Partitions = append(topic.Partitions, p)
		}
		return &kmsg.MetadataResponse{Topics: []kmsg.MetadataResponseTopic{topic}}
	}
	for what, c := range map[string]struct {
		other *kmsg.MetadataResponse
		want  bool
	}{
		"both know":               {answer(nil), true},
		"one knows another":       {answer(func(p *kmsg.MetadataResponseTopicPartition) { p.Leader = 3 }), false},
		"one knows of none":       {answer(func(p *kmsg.MetadataResponseTopicPartition) { p.Leader = -1 }), false},
		"one sees a replica late": {answer(func(p *kmsg.MetadataResponseTopicPartition) { p.ISR = p.ISR[:1] }), false},
		"one has an error":        {answer(func(p *kmsg.MetadataResponseTopicPartition) { p.ErrorCode = 5 }), false},
		"one doesn't know it":     {&kmsg.MetadataResponse{Topics: []kmsg.MetadataResponseTopic{{Topic: &name, ErrorCode: 3}}}, false},
		"one knows no topic":      {&kmsg.MetadataResponse{}, false},
	} {
		if got := led([]*kmsg.MetadataResponse{answer(nil), c.other}, 1, 2); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
	if led(nil, 1, 1) {
		t.Error("nobody was asked")
	}
}

// At most once a leader that doesn't serve a partition yet cuts the connection, and what was on it is lost.
func TestWhatIsSentAtOnceToManyNewPartitionsIsTaken(t *testing.T) {
	testkit.Long(t)
	_, target := livetest.Start(t, provision.Options{Broker: "kafka", Nodes: 3, Server: map[string]any{"jvm.Xmx": "512m"}})
	g := driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Log, Replicas: 3, Acks: driver.AcksNone, Ordering: driver.Unordered}
	const messages = 60_000
	payloads := make([]string, messages)
	for n := range payloads {
		payloads[n] = fmt.Sprint(n, strings.Repeat("x", 500))
	}
	for round := range 12 {
		c := livetest.Config(t, "kafka", target, g, map[string]any{"batch.size": 100000}, nil)
		r := livetest.OpenWith(t, "kafka", c, livetest.Topic(fmt.Sprint("many-", round), 50), messages)
		r.Post(t, payloads...)
		livetest.Eventually(t, "all have a fate", func() bool { return r.Count().Pending == 0 })
		if c := r.Count(); c.Failed > 0 {
			t.Errorf("round %d: %d failed: %v", round, c.Failed, c.LastErr)
		}
		livetest.Must(t, r.Driver.(driver.Cleaner).Clean(t.Context()))
	}
}
