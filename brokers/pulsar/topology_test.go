package pulsar

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const keys = 16

// reading is what one subscription has received: each message carries its number, and every other one its key.
type reading struct {
	mu    sync.Mutex
	count map[uint32]int
	last  map[uint32]uint32 // highest number by key; those without one under keys
	late  int
}

func (r *reading) Deliver(batch [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, payload := range batch {
		n := binary.LittleEndian.Uint32(payload)
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

func TestEverySubscriptionReceivesAllOfAPartitionedTopicOnceInTheOrderPromised(t *testing.T) {
	in := start(t, provision.Options{})
	for name, c := range map[string]struct {
		g         driver.Guarantee
		client    map[string]any
		topic     map[string]any
		consumers int
	}{
		"Failover":             {g: atLeast, consumers: 2},
		"Shared":               {g: unordered(atLeast), consumers: 3},
		"Key_Shared":           {g: atLeast, consumers: 3, client: map[string]any{"subscriptionType": "Key_Shared"}},
		"Exclusive":            {g: atLeast, consumers: 1, client: map[string]any{"subscriptionType": "Exclusive"}},
		"exactly once, Shared": {g: unordered(exactly), consumers: 2},
		"memory":               {g: memory, consumers: 2},
		"no batches, small window, acknowledged at once": {
			g: atLeast, consumers: 1,
			client: map[string]any{"batchingEnabled": false, "maxPendingMessages": 50, "ackGroupingTime": "0s", "compressionType": "LZ4"},
		},
		"policies": {g: atLeast, consumers: 1, client: map[string]any{"compressionType": "ZSTD"}, topic: map[string]any{
			"numBundles": 2, "retentionTimeInMinutes": 5, "retentionSizeInMB": 100, "messageTTLInSeconds": 600,
			"maxUnackedMessagesPerConsumer": 0, "maxUnackedMessagesPerSubscription": 1000, "managedLedgerMaxMarkDeleteRate": 5,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := open(t.Context(), driver.Config{
				Target: target(in), Guarantee: c.g, Log: io.Discard,
				Client: decode(t, driver.ClientScope, c.client), Topic: decode(t, driver.TopicScope, c.topic),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			all := exchange(t, d, c.consumers)
			for i, r := range all {
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

// exchange sends messages to one topic of four partitions, and returns what two subscriptions have received.
func exchange(t *testing.T, d driver.Driver, consumers int) []*reading {
	t.Helper()
	topology := driver.Topology{Topics: []driver.Topic{{Name: "exchange", Partitions: 4}}, Subscriptions: []string{"one", "two"}}
	if err := d.Setup(t.Context(), topology); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	all := make([]*reading, len(topology.Subscriptions))
	ended := make(chan error, consumers*len(all))
	var ready sync.WaitGroup
	for i := range all {
		all[i] = &reading{count: map[uint32]int{}, last: map[uint32]uint32{}}
		for id := range consumers {
			ready.Add(1)
			go func() {
				ended <- d.Consume(ctx, driver.ConsumerConfig{ID: id, Subscription: i}, all[i], ready.Done)
			}()
		}
	}
	ready.Wait()
	b := &book{acked: map[uint32]int{}, received: map[uint32]int{}, failed: map[uint32]error{}}
	producer, err := d.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: messages, MaxBytes: 8}, b)
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint32(messages) {
		m := driver.Message{Slot: n, Payload: binary.LittleEndian.AppendUint32(nil, n)}
		if key := keyOf(n); key < keys {
			m.Key = fmt.Appendf(nil, "key %d", key)
		}
		if err := producer.Send(ctx, []driver.Message{m}); err != nil {
			t.Fatal(err)
		}
		if n%100 == 99 {
			time.Sleep(10 * time.Millisecond) // a non-persistent topic drops what comes too fast
		}
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if all[0].received() == messages && all[1].received() == messages {
			break
		}
	}
	time.Sleep(200 * time.Millisecond) // for what would come again
	if err := producer.Close(); err != nil {
		t.Error(err)
	}
	stop()
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if len(b.failed) > 0 {
		for slot := range maps.Keys(b.failed) {
			t.Errorf("%d messages failed, one with: %v", len(b.failed), b.failed[slot])
			break
		}
	}
	if err := d.(driver.Cleaner).Clean(t.Context()); err != nil {
		t.Error(err)
	}
	return all
}

func TestServerSettingsReachTheServerOrAreRefused(t *testing.T) {
	in := start(t, provision.Options{Server: map[string]any{"maxMessageSize": 1 << 20, "journalMaxGroupWaitMSec": 3, "jvm.Xmx": "700m"}})
	config := driver.Config{Target: target(in), Guarantee: atLeast, Client: decode(t, driver.ClientScope, nil), Topic: decode(t, driver.TopicScope, nil)}
	d, err := open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := d.(*session).largest; got != 1<<20 {
		t.Errorf("maxMessageSize is %d on the broker", got)
	}
	bookie := map[string]string{}
	if err := d.(*session).admin.ask(t.Context(), "GET", in.Endpoints()[bookieRole]+"/api/v1/config/server_config", nil, &bookie); err != nil || bookie["journalMaxGroupWaitMSec"] != "3" {
		t.Errorf("journalMaxGroupWaitMSec is %q on the bookie (%v)", bookie["journalMaxGroupWaitMSec"], err)
	}
	t.Run("what the server doesn't do is refused by the driver", func(t *testing.T) {
		for name, g := range map[string]driver.Guarantee{
			"persistence: fsync": {Delivery: driver.AtLeastOnce, Persistence: driver.Fsync, Replicas: 1, Acks: driver.AcksQuorum, Ordering: driver.Ordered},
			"replicas: 3":        copies(atLeast, 3),
		} {
			requireRefusal(t, config, g, name)
		}
		if _, err := d.Producer(t.Context(), driver.ProducerConfig{MaxBytes: 1 << 20, InFlight: 1}, nil); err == nil {
			t.Error("messages larger than maxMessageSize are accepted")
		}
	})
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{"journalSyncDat": true, "clusterName": "x", "web\nServicePort": 1, "jvm.Zmx": "1g"} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			refused, err := host.Start(t.Context(), provision.Options{Broker: "pulsar", Server: map[string]any{name: value}})
			if err == nil {
				_ = refused.Stop(context.Background())
			}
			requireSetting(t, err)
		})
	}
}
