package kafka

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
)

func TestWhatKafkaCannotPromiseIsRefusedByName(t *testing.T) {
	for name, c := range map[string]struct {
		g      driver.Guarantee
		client map[string]any
		names  string // "" where the point is accepted
	}{
		"memory":                              {g: livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered), names: "persistence: memory"},
		"fsync, nobody waits":                 {g: livetest.Guarantee(driver.AtMostOnce, driver.Fsync, driver.AcksNone, driver.Ordered), names: "persistence: fsync with acks: none"},
		"at least once, no answer":            {g: livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksNone, driver.Ordered), names: "delivery: at-least-once with acks: none"},
		"exactly once, leader only":           {g: livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksLeader, driver.Ordered), names: "delivery: exactly-once with acks: leader"},
		"idempotent at most once":             {g: atMost, client: map[string]any{"enable.idempotence": true}, names: "client.enable.idempotence: true"},
		"idempotent, leader only":             {g: leaderOnly, client: map[string]any{"enable.idempotence": true}, names: "client.enable.idempotence: true"},
		"transactions, not idempotent":        {g: exactly, client: map[string]any{"enable.idempotence": false}, names: "client.enable.idempotence: false"},
		"retries at most once":                {g: atMost, client: map[string]any{"retries": 3}, names: "client.retries"},
		"idempotent with another window":      {g: atLeast, client: map[string]any{"max.in.flight.requests.per.connection": 2}, names: "client.max.in.flight.requests.per.connection"},
		"ordered retries in a window":         {g: leaderOnly, client: map[string]any{"max.in.flight.requests.per.connection": 2}, names: "client.max.in.flight.requests.per.connection"},
		"commits rarer than transactions end": {g: exactly, client: map[string]any{"commit.interval.ms": 70_000}, names: "client.commit.interval.ms"},
		"a wait too short for the client":     {g: atLeast, client: map[string]any{"fetch.max.wait.ms": 1}, names: "client settings"},
		"a batch beyond 2 GiB":                {g: atLeast, client: map[string]any{"batch.size": 1 << 32}, names: "client.batch.size"},
		"no retries at most once":             {g: atMost, client: map[string]any{"retries": 0}},
		"at least once":                       {g: atLeast},
		"leader only":                         {g: leaderOnly},
		"exactly once":                        {g: exactly},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := livetest.Kind(t, "kafka").Open(t.Context(), livetest.Config(t, "kafka", driver.Target{Addresses: []string{"127.0.0.1:1"}}, c.g, c.client, nil))
			var refusal *driver.ErrUnsupported
			switch {
			case c.names == "" && errors.As(err, &refusal):
				t.Errorf("refused: %v", err)
			case c.names != "" && (refusal == nil && !errors.As(err, &refusal) || refusal.Setting != c.names):
				t.Errorf("answered with %v; want %q refused", err, c.names)
			}
		})
	}
}

// What a server was asked for was overridden in silence by what every topic is made with.
func TestWhatTheServerIsAskedForHoldsForTopicsOrIsRefused(t *testing.T) {
	flushed := livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Ordered)
	most := func(n int) map[string]any { return map[string]any{"message.max.bytes": n} }
	for name, c := range map[string]struct {
		g             driver.Guarantee
		server, topic map[string]any
		size          int
		names         string // "" where the point is accepted
	}{
		"room enough":                  {atLeast, most(10_000_000), nil, 1000, ""},
		"a message beyond the limit":   {atLeast, most(2000), nil, 10_000, "server.message.max.bytes: 2000"},
		"batches beyond the limit":     {atLeast, most(20_000), nil, 1000, "server.message.max.bytes: 20000"},
		"the topic has its own":        {atLeast, most(2000), map[string]any{"max.message.bytes": "2000000"}, 1000, ""},
		"batches beyond the topic's":   {atLeast, nil, map[string]any{"max.message.bytes": "20000"}, 1000, "topicConfig.max.message.bytes: 20000"},
		"more in sync than the quorum": {atLeast, map[string]any{"min.insync.replicas": 2}, nil, 1000, "server.min.insync.replicas: 2"},
		"no quorum is asked for":       {leaderOnly, map[string]any{"min.insync.replicas": 2}, nil, 1000, ""},
		"flushes too rare":             {flushed, map[string]any{flushAll: 100}, nil, 1000, "server.log.flush.interval.messages: 100"},
		"compaction without keys":      {atLeast, map[string]any{"log.cleanup.policy": "compact"}, nil, 1000, "server.log.cleanup.policy: compact"},
		"a compacted topic, no keys":   {atLeast, nil, map[string]any{"cleanup.policy": "compact,delete"}, 1000, "topicConfig.cleanup.policy: compact,delete"},
		"the topic is not compacted":   {atLeast, map[string]any{"log.cleanup.policy": "compact"}, map[string]any{"cleanup.policy": "delete"}, 1000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := livetest.Config(t, "kafka", driver.Target{Server: c.server}, c.g, nil, c.topic)
			err := fits(config, driver.Shape{Topics: 1, Partitions: 1, MaxBytes: c.size, Keyless: true})
			if c.names != "" {
				livetest.Refused(t, err, c.names)
				return
			}
			livetest.Must(t, err)
			if made, err := topicConfigs(config); err != nil || c.server[serverName(largestBatch)] != nil && c.topic == nil && made[largestBatch] != nil {
				t.Errorf("topics are made with %v, %v", made, err)
			}
		})
	}
}

var (
	atMost     = livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksNone, driver.Ordered)
	atLeast    = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered)
	leaderOnly = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	exactly    = livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksQuorum, driver.Ordered)
)

func TestGuaranteesReachTheClient(t *testing.T) {
	unordered := leaderOnly
	unordered.Ordering = driver.Unordered
	for name, c := range map[string]struct {
		g          driver.Guarantee
		acks       kgo.Acks
		idempotent bool
		retries    bool
		window     int
	}{
		"at most once":            {atMost, kgo.NoAck(), false, false, 5},
		"at least once":           {atLeast, kgo.AllISRAcks(), true, true, 1}, // 1 is what franz-go says when it decides
		"leader only, ordered":    {leaderOnly, kgo.LeaderAck(), false, true, 1},
		"leader only, unordered":  {unordered, kgo.LeaderAck(), false, true, 5},
		"exactly once, committed": {exactly, kgo.AllISRAcks(), true, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := kgo.NewClient(producerOptions(c.g, livetest.Values(t, "kafka", driver.ClientScope, nil))...)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if got := client.OptValue(kgo.RequiredAcks); got != c.acks {
				t.Errorf("acks %v, want %v", got, c.acks)
			}
			if got := client.OptValue(kgo.DisableIdempotentWrite); got != !c.idempotent {
				t.Errorf("idempotence disabled: %v, want %v", got, !c.idempotent)
			}
			if got := client.OptValue(kgo.RecordRetries).(int64); got > 0 != c.retries {
				t.Errorf("retries %v, want any: %v", got, c.retries)
			}
			if got := client.OptValue(kgo.MaxProduceRequestsInflightPerBroker); got != c.window {
				t.Errorf("%v requests in flight, want %v", got, c.window)
			}
		})
	}
}

func TestGuaranteesReachTheTopic(t *testing.T) {
	for name, c := range map[string]struct {
		g     driver.Guarantee
		topic map[string]any
		want  map[string]string // nil: refused
	}{
		"a weaker quorum":    {with(atLeast, driver.Log, 3), map[string]any{"min.insync.replicas": 1}, nil},
		"a rarer flush":      {with(atLeast, driver.Fsync, 1), map[string]any{"flush.messages": 100}, nil},
		"quorum of three":    {with(atLeast, driver.Log, 3), nil, map[string]string{"min.insync.replicas": "2", "flush.messages": ""}},
		"quorum of four":     {with(atLeast, driver.Log, 4), nil, map[string]string{"min.insync.replicas": "3"}},
		"fsync":              {with(atLeast, driver.Fsync, 1), nil, map[string]string{"flush.messages": "1", "min.insync.replicas": "1"}},
		"flush without need": {with(leaderOnly, driver.Log, 1), map[string]any{"flush.messages": 100}, map[string]string{"flush.messages": "100", "min.insync.replicas": ""}},
		"any other setting":  {with(leaderOnly, driver.Log, 1), map[string]any{"retention.ms": 1e9}, map[string]string{"retention.ms": "1000000000"}},
	} {
		t.Run(name, func(t *testing.T) {
			configs, err := topicConfigs(livetest.Config(t, "kafka", driver.Target{}, c.g, nil, c.topic))
			var refusal *driver.ErrUnsupported
			if c.want == nil != errors.As(err, &refusal) {
				t.Fatalf("error %v; refused should be %v", err, c.want == nil)
			}
			for name, want := range c.want {
				got := ""
				if configs[name] != nil {
					got = *configs[name]
				}
				if got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func with(g driver.Guarantee, p driver.Persistence, replicas int) driver.Guarantee {
	g.Persistence, g.Replicas = p, replicas
	return g
}

func TestOrderedMessagesWithoutKeyStayInOnePartition(t *testing.T) {
	const partitions = 7
	p := pinned(10).ForTopic("t")
	for range 100 {
		if got := p.Partition(&kgo.Record{}, partitions); got != 3 {
			t.Fatalf("producer 10 of %d partitions sent to %d, want 3", partitions, got)
		}
	}
	key, usual := &kgo.Record{Key: []byte("a key")}, kgo.StickyKeyPartitioner(nil).ForTopic("t")
	if got, want := p.Partition(key, partitions), usual.Partition(key, partitions); got != want {
		t.Errorf("a key went to partition %d, to %d with Kafka's own hash", got, want)
	}
}

type slotList struct {
	mu    sync.Mutex
	slots []uint32
}

func (l *slotList) Done(slots []uint32, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slots = append(l.slots, slots...)
}

func TestAcksPassEverySlotOnOnceAndInOrder(t *testing.T) {
	for _, window := range []int{1, 2, 3, 64} {
		const rounds = 2000
		list := &slotList{}
		a := newAcks(list, window)
		var want []uint32
		for i := range rounds {
			for uint64(i)-a.head.Load() >= uint64(window) { // all slots are in flight
				runtime.Gosched()
			}
			slot := uint32(i % window)
			a.push(slot)
			want = append(want, slot)
		}
		for a.head.Load() < rounds {
			runtime.Gosched()
		}
		a.close()
		if !slices.Equal(list.slots, want) {
			t.Errorf("window %d: %d slots came through, %d were pushed, or in another order", window, len(list.slots), len(want))
		}
	}
}

func TestNoOffsetIsClaimedTwice(t *testing.T) {
	next := new(atomic.Int64)
	for _, step := range []struct{ end, from int64 }{{10, 0}, {10, 10}, {5, 5}, {12, 10}} {
		if from := claim(next, step.end); from != step.from {
			t.Errorf("claiming up to %d: from %d, want %d", step.end, from, step.from)
		}
	}
}
