package lab

import (
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
