package lab

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestTheTimeToConnectGrowsWithTheTopology(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	for topics, want := range map[int]time.Duration{
		1:         time.Minute + 30*time.Millisecond,
		1000:      90 * time.Second,
		10_000:    6 * time.Minute,
		1_000_000: time.Hour,
	} {
		spec := study.Defaults()
		spec.Topics = topics
		b := &bench{spec: spec, record: &store.Record{PointID: "0123456789abcdef"}}
		if got := b.plan().Connect; got != want {
			t.Errorf("%d topics: %s, want %s", topics, got, want)
		}
	}
}

func TestTopicsAreDividedAmongTheConnections(t *testing.T) {
	for connections, want := range map[int]struct{ clients, consumers int }{
		0: {30, 10 * 2 * 2}, // every one has its own
		1: {3, 2 * 2},
		3: {3 * 3, 3 * 2 * 2},
		4: {4 * 3, 4 * 2 * 2},
	} {
		spec := study.Defaults()
		spec.Topics, spec.ProducersPerTopic, spec.SubscriptionsPerTopic, spec.ConsumerPerSubscription = 10, 3, 2, study.Consumers{2}
		spec.Connections = connections
		p := (&bench{spec: spec, record: &store.Record{PointID: "0123456789abcdef"}}).plan()
		clients := p.Clients
		if clients == 0 {
			clients = len(p.Producers)
		}
		if clients != want.clients || len(p.Consumers) != want.consumers {
			t.Errorf("%d connections: %d clients of producers and %d consumers, want %d and %d", connections, clients, len(p.Consumers), want.clients, want.consumers)
		}
		type read struct{ topic, subscription, id int }
		seen := map[read]int{}
		for _, c := range p.Consumers {
			for _, topic := range c.Topics() {
				seen[read{topic, c.Subscription, c.ID}]++
			}
		}
		if len(seen) != 10*2*2 {
			t.Errorf("%d connections: %d of %d topics, subscriptions and consumers are read", connections, len(seen), 10*2*2)
		}
		perClient := map[[2]int]int{} // of a client: producers of one topic
		for _, producer := range p.Producers {
			key := [2]int{producer.ID % clients, producer.Topic}
			if perClient[key]++; perClient[key] > 1 {
				t.Errorf("%d connections: two producers of topic %d share a client", connections, producer.Topic)
			}
		}
	}
}

func TestOrderIsJudgedByKeyWhereConsumersShareAStream(t *testing.T) {
	for name, c := range map[string]struct {
		partitions, consumers int
		byKey                 bool
	}{"one consumer": {1, 1, false}, "partitions": {4, 1, true}, "several consumers": {1, 3, true}} {
		b := bench{spec: study.Defaults(), record: &store.Record{PointID: "0123456789"}}
		b.spec.PartitionsPerTopic, b.spec.ConsumerPerSubscription = c.partitions, study.Consumers{c.consumers}
		if got := b.plan().KeyOrdered; got != c.byKey {
			t.Errorf("%s: by key %v, want %v", name, got, c.byKey)
		}
	}
}

func TestEachSubscriptionHasItsNumberOfConsumers(t *testing.T) {
	s := study.Defaults()
	s.Topics, s.SubscriptionsPerTopic, s.ConsumerPerSubscription = 2, 2, study.Consumers{3, 1}
	var got []string
	for _, c := range consumers(s) {
		got = append(got, fmt.Sprintf("topic %d, s%d: %d of %d", c.Topic, c.Subscription, c.ID, c.Of))
	}
	want := []string{
		"topic 0, s0: 0 of 3", "topic 0, s0: 1 of 3", "topic 0, s0: 2 of 3", "topic 0, s1: 0 of 1",
		"topic 1, s0: 0 of 3", "topic 1, s0: 1 of 3", "topic 1, s0: 2 of 3", "topic 1, s1: 0 of 1",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if n := s.ConsumersPerTopic(); n != 4 {
		t.Errorf("%d consumers of a topic, want 4", n)
	}
}

func TestAClientThatWantsFewThreadsGetsHalfOfTheCores(t *testing.T) {
	for _, c := range []struct{ wanted, cores, want int }{{0, 2, 0}, {0, 64, 0}, {1, 1, 1}, {1, 2, 1}, {1, 4, 2}, {1, 64, 32}, {3, 4, 3}} {
		if got := threads(c.wanted, c.cores); got != c.want {
			t.Errorf("%d wanted on %d cores: %d, want %d", c.wanted, c.cores, got, c.want)
		}
	}
}
