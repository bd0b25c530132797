package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

// book takes down what was delivered and how every slot ended.
type book struct {
	mu        sync.Mutex
	delivered []string
	fates     map[uint32]error
}

func (b *book) Deliver(batch [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range batch {
		b.delivered = append(b.delivered, string(p))
	}
}

func (b *book) Done(slots []uint32, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range slots {
		b.fates[s] = err
	}
}

func (b *book) has(payload string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.delivered, payload)
}

func (b *book) arrived() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.delivered)
}

// eventually waits for something that a healthy broker does within a moment.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}

func config(t *testing.T, broker string, target driver.Target, g driver.Guarantee, client, topic map[string]any) driver.Config {
	t.Helper()
	k, err := driver.Lookup(broker)
	must(t, err)
	c, err := driver.Decode(k.Settings, driver.ClientScope, client)
	must(t, err)
	v, err := driver.Decode(k.Settings, driver.TopicScope, topic)
	must(t, err)
	return driver.Config{Target: target, Guarantee: g, Client: c, Topic: v}
}

// rig is one driver with a producer; consume adds consumers.
type rig struct {
	*book
	drv      driver.Driver
	producer driver.Producer
	slot     uint32
}

func opened(t *testing.T, c driver.Config, topology driver.Topology) *rig {
	t.Helper()
	drv, err := kind(t).Open(t.Context(), c)
	must(t, err)
	r := &rig{book: &book{fates: map[uint32]error{}}, drv: drv}
	must(t, drv.Setup(t.Context(), topology))
	r.producer, err = drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: 4096, MaxBytes: 1000}, r)
	must(t, err)
	t.Cleanup(func() {
		must(t, r.producer.Close())
		must(t, drv.Close())
	})
	return r
}

func (r *rig) consume(t *testing.T, subscription int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	up, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- r.drv.Consume(ctx, driver.ConsumerConfig{Subscription: subscription}, r, func() { close(up) })
	}()
	select {
	case <-up:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
}

// send sends one message and returns its fate.
func (r *rig) send(t *testing.T, key, payload string) error {
	t.Helper()
	r.slot = (r.slot + 1) % 4096
	slot := r.slot
	r.mu.Lock()
	delete(r.fates, slot)
	r.mu.Unlock()
	must(t, r.producer.Send(t.Context(), []driver.Message{{Slot: slot, Key: []byte(key), Payload: []byte(payload)}}))
	var fate error
	eventually(t, "the fate of "+payload, func() (known bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		fate, known = r.fates[slot]
		return known
	})
	return fate
}

func topic(name string, partitions int, subscriptions ...string) driver.Topology {
	return driver.Topology{Topics: []driver.Topic{{Name: name, Partitions: partitions}}, Subscriptions: subscriptions}
}

func refused(t *testing.T, err error, part string) {
	t.Helper()
	var refusal *driver.ErrUnsupported
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), part) {
		t.Errorf("%v; want a refusal that says %q", err, part)
	}
}

func TestAServerWithOnePasswordForAllLetsInWhoKnowsIt(t *testing.T) {
	_, locked := started(t, provision.Options{Server: map[string]any{"requirepass": "sesame"}})
	locked.Password = "sesame"
	must(t, opened(t, config(t, "redis", locked, memory, nil, nil), topic("open", 1, "s")).send(t, "", "let in"))
}

func TestServerSettingsAreRefusedByNameOrReachTheServer(t *testing.T) {
	started(t, provision.Options{}) // or skipped
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	must(t, err)
	for _, c := range []struct{ name, value, says string }{
		{"appendfsink", "no", "no such setting"},
		{"maxmemory", "much", "memory value"},
		{"port", "1", "set by the recipe"},
		{"maxmemory", "1\nport 1", "one line"},
	} {
		_, err := host.Start(t.Context(), provision.Options{Broker: "redis", Server: map[string]any{"timeout": 0, c.name: c.value}})
		var setting *provision.ErrSetting
		if !errors.As(err, &setting) || setting.Name != c.name || !strings.Contains(setting.Reason, c.says) {
			t.Errorf("%s: %q: %v; want it refused by name with %q", c.name, c.value, err, c.says)
		}
	}
	in, _ := started(t, provision.Options{Server: map[string]any{"maxmemory": "64mb", "save": ""}})
	if got := asked(t, in.Addresses()[0], "maxmemory"); got != "67108864" {
		t.Errorf("the server has maxmemory %s, want the 64mb it was started with", got)
	}
}

// asked is a setting that the server has.
func asked(t *testing.T, address, name string) string {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: address, Protocol: 2})
	defer c.Close()
	all, err := c.ConfigGet(t.Context(), name).Result()
	must(t, err)
	return all[name]
}

func TestPersistenceIsRefusedOnAServerThatIsNotOurs(t *testing.T) {
	_, target := started(t, provision.Options{Server: map[string]any{"appendonly": "yes"}})
	target.Version = "" // as where it is attached
	drv, err := kind(t).Open(t.Context(), config(t, "redis", target, logged, nil, nil))
	must(t, err)
	defer drv.Close()
	refused(t, drv.Setup(t.Context(), topic("x", 1, "s")), "appendfsync: no; this server has yes and everysec")
}

func TestReplicasAreRefusedWhereThereAreNone(t *testing.T) {
	_, target := started(t, provision.Options{})
	drv, err := kind(t).Open(t.Context(), config(t, "redis", target, copied, nil, nil))
	must(t, err)
	defer drv.Close()
	refused(t, drv.Setup(t.Context(), topic("x", 1, "s")), "replicas: 3")
}

func TestWhatWasAcknowledgedSurvivesAKilledServer(t *testing.T) {
	for _, g := range []driver.Guarantee{logged, synced} {
		t.Run(string(g.Persistence), func(t *testing.T) {
			in, target := started(t, provision.Options{})
			before := asked(t, target.Addresses[0], "appendonly")
			r := opened(t, config(t, "redis", target, g, nil, nil), topic("kept", 1, "s"))
			for i := range 100 {
				must(t, r.send(t, "", fmt.Sprint("before ", i)))
			}
			must(t, in.Kill(t.Context(), 1))
			must(t, in.Restart(t.Context(), 1))
			r.consume(t, 0)
			eventually(t, "a message is acknowledged after the restart", func() bool { return r.send(t, "", "after") == nil })
			eventually(t, "all came", func() bool { return r.has("before 99") && r.has("after") })
			if got := r.arrived(); len(got) < 101 || got[0] != "before 0" {
				t.Errorf("%d messages came, first %q", len(got), got[0])
			}
			must(t, r.drv.(driver.Cleaner).Clean(t.Context()))
			if got := asked(t, target.Addresses[0], "appendonly"); got != before {
				t.Errorf("after Clean the server has appendonly %s, before it %s", got, before)
			}
		})
	}
}

func TestConsumerComesBackAfterARestartThatForgotItsGroup(t *testing.T) {
	in, target := started(t, provision.Options{})
	r := opened(t, config(t, "redis", target, memory, nil, nil), topic("forgotten", 2, "a", "b"))
	r.consume(t, 0)
	r.consume(t, 1)
	must(t, r.send(t, "", "before"))
	must(t, in.Kill(t.Context(), 1))
	must(t, in.Restart(t.Context(), 1))
	eventually(t, "a message is acknowledged after the restart", func() bool { return r.send(t, "", "after") == nil })
	eventually(t, "both subscriptions have it", func() bool {
		n := 0
		for _, p := range r.arrived() {
			if p == "after" {
				n++
			}
		}
		return n >= 2
	})
}

func TestMessagesOfOneKeyKeepTheirOrderOverSeveralStreams(t *testing.T) {
	_, target := started(t, provision.Options{})
	r := opened(t, config(t, "redis", target, memory, nil, nil), topic("keyed", 4, "s"))
	r.consume(t, 0)
	var batch []driver.Message
	for slot := range uint32(60) {
		batch = append(batch, driver.Message{Slot: slot, Key: []byte{byte(slot % 3)}, Payload: []byte{byte(slot)}})
	}
	must(t, r.producer.Send(t.Context(), batch))
	eventually(t, "all were delivered", func() bool { return len(r.arrived()) == len(batch) })
	last := map[byte]byte{}
	for _, p := range r.arrived() {
		if key := p[0] % 3; p[0] < last[key] {
			t.Errorf("message %d came after message %d of the same key", p[0], last[key])
		}
		last[p[0]%3] = p[0]
	}
}

func TestStreamsAreTrimmedToWhatIsNotAcknowledgedByAll(t *testing.T) {
	_, target := started(t, provision.Options{})
	r := opened(t, config(t, "redis", target, memory, nil, nil), topic("trimmed", 1, "fast", "slow"))
	c := goredis.NewClient(&goredis.Options{Addr: target.Addresses[0], Protocol: 2})
	defer c.Close()
	length := func() int64 {
		n, err := c.XLen(t.Context(), "trimmed").Result()
		must(t, err)
		return n
	}
	r.consume(t, 0)
	const sent = 1000
	for i := range sent {
		must(t, r.send(t, "", fmt.Sprint(i)))
	}
	eventually(t, "the fast one has all", func() bool { return len(r.arrived()) == sent })
	time.Sleep(2500 * time.Millisecond) // two rounds of trimming
	if n := length(); n != sent {
		t.Errorf("%d entries are left, though one subscription has read none of %d", n, sent)
	}
	r.consume(t, 1)
	eventually(t, "the slow one has all", func() bool { return len(r.arrived()) == 2*sent })
	eventually(t, "most are gone", func() bool { return length() < sent/2 })
	k, err := driver.Lookup("redis")
	must(t, err)
	drivertest.Limits(t, drivertest.Suite{Kind: k}, target, memory,
		drivertest.Limit{Name: "MAXLEN", Topic: map[string]any{"MAXLEN": 100, "trim": "none"}, Full: drivertest.DropsOldest})
}

func TestQuorumFailsWithoutReplicas(t *testing.T) {
	in, target := started(t, provision.Options{Nodes: 3})
	r := opened(t, config(t, "redis", target, copied, map[string]any{"WAIT": "200ms"}, nil), topic("copied", 1, "s"))
	must(t, r.send(t, "", "with replicas"))
	must(t, in.Kill(t.Context(), 2))
	must(t, r.send(t, "", "with one of two"))
	must(t, in.Kill(t.Context(), 3))
	if err := r.send(t, "", "alone"); err == nil || !strings.Contains(err.Error(), "0 of 1 replicas") {
		t.Errorf("without replicas a message ended with %v; want that none confirmed it", err)
	}
}

func TestPubSubKeepsThePromises(t *testing.T) {
	k, err := driver.Lookup("redis-pubsub")
	must(t, err)
	var in *provision.Instance
	drivertest.Run(t, drivertest.Suite{
		Kind: k, Consumers: 1, Guarantees: []driver.Guarantee{once},
		Target: func(t *testing.T) (target driver.Target) {
			in, target = started(t, provision.Options{})
			return target
		},
		Pause:  func(t *testing.T) { must(t, in.Pause(t.Context(), 1)) },
		Resume: func(t *testing.T) { must(t, in.Resume(t.Context(), 1)) },
		Kill:   func(t *testing.T) { must(t, in.Kill(t.Context(), 1)) },
		Cost:   func(*testing.T) drivertest.Cost { return livetest.Cost(in) },
		Guarded: func(t *testing.T) driver.Target {
			_, target := started(t, livetest.Guarded(provision.Options{}))
			return target
		},
	})
}
