package pulsar

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	keys     = 16
	messages = 600
	ahead    = 100 // messages that may be on their way
)

// reading is what one subscription has received: each message carries its number, and every other one its key.
type reading struct {
	mu    sync.Mutex
	count map[uint32]int
	last  map[uint32]uint32 // highest number by key; those without one under keys
	late  int
}

func (r *reading) Deliver(batch []driver.Received) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range batch {
		n := binary.LittleEndian.Uint32(m.Payload)
		r.count[n]++
		if last, ok := r.last[keyOf(n)]; ok && n < last {
			r.late++
		}
		r.last[keyOf(n)] = n
	}
}

func (r *reading) received() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.count)
}

func keyOf(n uint32) uint32 {
	if n%2 == 0 {
		return keys
	}
	return n / 2 % keys
}

func topologies(t *testing.T, target driver.Target) {
	for name, c := range map[string]struct {
		g         driver.Guarantee
		client    map[string]any
		topic     map[string]any
		consumers int
	}{
		"Key_Shared": {g: atLeast, consumers: 3, client: map[string]any{"subscriptionType": "Key_Shared"}},
		"memory":     {g: memory, consumers: 2},
		"Exclusive; no batches, small window, acknowledged at once": {g: atLeast, consumers: 1, client: map[string]any{
			"subscriptionType": "Exclusive", "batchingEnabled": false, "maxPendingMessages": 50, "ackGroupingTime": "0s", "compressionType": "LZ4",
		}},
		"policies": {g: atLeast, consumers: 1, client: map[string]any{"compressionType": "ZSTD"}, topic: map[string]any{
			"numBundles": 2, "retentionTimeInMinutes": 5, "retentionSizeInMB": 100, "messageTTLInSeconds": 600,
			"maxUnackedMessagesPerConsumer": 0, "maxUnackedMessagesPerSubscription": 1000, "managedLedgerMaxMarkDeleteRate": 5,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := livetest.SetUp(t, "pulsar", livetest.Config(t, "pulsar", target, c.g, c.client, c.topic), livetest.Topic("exchange", 3, "one", "two"))
			for i, r := range exchange(t, d, c.consumers) {
				if n := r.received(); n != messages {
					t.Errorf("subscription %d has received %d of %d messages", i, n, messages)
				}
				for n, times := range r.count {
					if times > 1 {
						t.Errorf("subscription %d has received message %d %d times", i, n, times)
						break
					}
				}
				if r.late > 0 && c.g.Ordering == driver.Ordered {
					t.Errorf("subscription %d: %d messages came after a later one of the same key", i, r.late)
				}
			}
		})
	}
}

// exchange sends messages to one topic of several partitions, and returns what two subscriptions have received.
func exchange(t *testing.T, d driver.Driver, consumers int) []*reading {
	t.Helper()
	all := []*reading{{count: map[uint32]int{}, last: map[uint32]uint32{}}, {count: map[uint32]int{}, last: map[uint32]uint32{}}}
	var ends []func()
	for i, r := range all {
		for id := range consumers {
			ends = append(ends, livetest.Consume(t, d, driver.ConsumerConfig{ID: id, Subscription: i}, r))
		}
	}
	b := livetest.NewBook(t, messages, 0)
	producer, err := d.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: messages, MaxBytes: 8}, b)
	livetest.Must(t, err)
	both := func(n int) func() bool {
		return func() bool { return all[0].received() >= n && all[1].received() >= n }
	}
	for n := range uint32(messages) {
		m := driver.Message{Payload: binary.LittleEndian.AppendUint32(nil, n)}
		if key := keyOf(n); key < keys {
			m.Key = fmt.Appendf(nil, "key %d", key)
		}
		livetest.Must(t, b.Send(t.Context(), producer, m))
		if n%ahead == ahead-1 { // a non-persistent topic drops what comes too fast
			livetest.Within(livetest.Patience, both(int(n)-ahead))
		}
	}
	livetest.Within(livetest.Patience, both(messages)) // what has not come then, the readings show
	livetest.Must(t, producer.Close())
	for _, end := range ends {
		end()
	}
	if c := b.Count(); c.Failed > 0 {
		t.Errorf("%d messages failed, the last with: %v", c.Failed, c.LastErr)
	}
	return all
}

func serverSettings(t *testing.T, in *provision.Instance, target driver.Target) {
	s := livetest.SetUp(t, "pulsar", livetest.Config(t, "pulsar", target, atLeast, nil, nil), livetest.Topic("settings", 1)).(*session)
	if s.largest != 1<<20 {
		t.Errorf("maxMessageSize is %d on the broker", s.largest)
	}
	bookie := map[string]string{}
	if err := s.admin.ask(t.Context(), "GET", in.Endpoints()[bookieRole]+"/api/v1/config/server_config", nil, &bookie); err != nil || bookie["journalMaxGroupWaitMSec"] != "3" {
		t.Errorf("journalMaxGroupWaitMSec is %q on the bookie (%v)", bookie["journalMaxGroupWaitMSec"], err)
	}
	if _, err := s.Producer(t.Context(), driver.ProducerConfig{MaxBytes: 1 << 20, InFlight: 1}, nil); err == nil {
		t.Error("messages larger than maxMessageSize are accepted")
	}
	requireRefusal(t, target, copies(atLeast, 3), "replicas: 3")
}

func TestUnknownServerSettingsAreRefusedByName(t *testing.T) {
	livetest.RefusesEach(t, provision.Options{Broker: "pulsar"}, map[string]any{"journalSyncDat": true, "clusterName": "x", "web\nServicePort": 1, "jvm.Zmx": "1g"})
}
