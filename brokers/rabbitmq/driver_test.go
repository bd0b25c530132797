package rabbitmq

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main()
	os.Exit(m.Run())
}

var (
	fast    = driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Unordered}
	logged  = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered}
	ordered = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered}
	synced  = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Fsync, Replicas: 1, Acks: driver.AcksQuorum, Ordering: driver.Unordered}
	three   = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Fsync, Replicas: 3, Acks: driver.AcksQuorum, Ordering: driver.Unordered}
)

// started is a running broker, or a skipped test where it can't be had.
func started(t *testing.T, o provision.Options) (*provision.Instance, driver.Target) {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	o.Broker = "rabbitmq"
	in, err := host.Start(t.Context(), o)
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		t.Skipf("RabbitMQ %s can't be installed here: %v", o.Version, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in, reach.Instance(in)
}

func kind(t *testing.T) driver.Kind {
	t.Helper()
	k, err := driver.Lookup("rabbitmq")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestDriverKeepsThePromisesOnEveryVersion(t *testing.T) {
	for i, version := range []string{"4.0.5", "3.10.8"} {
		t.Run(version, func(t *testing.T) {
			if i > 0 {
				livetest.Long(t)
			}
			var in *provision.Instance
			s := drivertest.Suite{
				Kind: kind(t),
				Target: func(t *testing.T) (target driver.Target) {
					in, target = started(t, provision.Options{Version: version})
					t.Run("features", func(t *testing.T) { features(t, version, target) })
					return target
				},
				Guarantees: [][]driver.Guarantee{{fast, logged, ordered, synced}, {ordered, synced}}[i],
				Pause:      func(t *testing.T) { must(t, in.Pause(t.Context(), 1)) },
				Resume:     func(t *testing.T) { must(t, in.Resume(t.Context(), 1)) },
				Restart:    func(t *testing.T) { must(t, in.Kill(t.Context(), 1)); must(t, in.Restart(t.Context(), 1)) },
				Kill:       func(t *testing.T) { must(t, in.Kill(t.Context(), 1)) },
				Cost:       func(*testing.T) drivertest.Cost { return livetest.Cost(in) },
			}
			if i == 0 {
				s.Guarded = func(t *testing.T) driver.Target {
					_, target := started(t, livetest.Guarded(provision.Options{}))
					return target
				}
			}
			drivertest.Run(t, s)
		})
	}
}

func TestDriverKeepsThePromisesOverTLSOnAClusterOfThree(t *testing.T) {
	livetest.Long(t)
	drivertest.Run(t, drivertest.Suite{
		Kind: kind(t),
		Target: func(t *testing.T) driver.Target {
			_, target := started(t, provision.Options{Nodes: 3, TLS: true, Deadline: 3 * time.Minute})
			return target
		},
		Guarantees: []driver.Guarantee{three},
		Bulk:       300,
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func config(t *testing.T, target driver.Target, g driver.Guarantee, client, topic map[string]any) driver.Config {
	t.Helper()
	c, err := driver.Decode(settings, driver.ClientScope, client)
	must(t, err)
	v, err := driver.Decode(settings, driver.TopicScope, topic)
	must(t, err)
	return driver.Config{Target: target, Guarantee: g, Client: c, Topic: v}
}

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

func (b *book) fate(slot uint32) (err error, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err, known = b.fates[slot]
	return err, known
}

func (b *book) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.delivered)
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

// rig is one driver with a topic, a producer and the consumers of every subscription.
type rig struct {
	*book
	drv      driver.Driver
	producer driver.Producer
}

func opened(t *testing.T, c driver.Config, topology driver.Topology) *rig {
	t.Helper()
	drv, err := kind(t).Open(t.Context(), c)
	must(t, err)
	b := &rig{book: &book{fates: map[uint32]error{}}, drv: drv}
	must(t, drv.Setup(t.Context(), topology))
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for sub := range topology.Subscriptions {
		up := make(chan struct{})
		wg.Go(func() {
			if err := drv.Consume(ctx, driver.ConsumerConfig{Subscription: sub}, b, func() { close(up) }); err != nil {
				t.Errorf("consume: %v", err)
			}
		})
		<-up
	}
	b.producer, err = drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: 64, MaxBytes: 1000}, b)
	must(t, err)
	t.Cleanup(func() {
		must(t, b.producer.Close())
		cancel()
		wg.Wait()
		must(t, drv.Close())
	})
	return b
}

// send sends one message and waits for its fate.
func (b *rig) send(t *testing.T, slot uint32, payload string) error {
	t.Helper()
	must(t, b.producer.Send(t.Context(), []driver.Message{{Slot: slot, Payload: []byte(payload)}}))
	eventually(t, "the fate of "+payload, func() bool { _, known := b.fate(slot); return known })
	err, _ := b.fate(slot)
	return err
}

func topic(partitions int, subscriptions ...string) driver.Topology {
	return driver.Topology{Topics: []driver.Topic{{Name: "t", Partitions: partitions}}, Subscriptions: subscriptions}
}

func TestSingleBroker(t *testing.T) {
	_, target := started(t, provision.Options{})
	t.Run("limits", func(t *testing.T) { limits(t, target) })
	t.Run("a lazy queue is refused where the server would ignore it", func(t *testing.T) {
		requireError(t, setupError(t, config(t, target, logged, nil, map[string]any{"x-queue-mode": "lazy"}), topic(1, "s")), "x-queue-mode is not supported")
	})
	t.Run("a message that a full queue rejects fails", func(t *testing.T) {
		limits := map[string]any{"x-max-length": 1, "x-overflow": "reject-publish"}
		c := config(t, target, logged, map[string]any{"prefetch": 1, "ack.delay": "1h"}, limits)
		b := opened(t, c, driver.Topology{Topics: []driver.Topic{{Name: "full", Partitions: 1}}, Subscriptions: []string{"idle"}})
		must(t, b.producer.Close())
		b.producer, _ = b.drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: 64}, b)
		var batch []driver.Message
		for slot := range uint32(64) {
			batch = append(batch, driver.Message{Slot: slot, Payload: []byte("x")})
		}
		must(t, b.producer.Send(t.Context(), batch))
		eventually(t, "a rejected message", func() bool {
			for slot := range uint32(64) {
				if err, _ := b.fate(slot); errors.Is(err, errNacked) {
					return true
				}
			}
			return false
		})
	})
	t.Run("messages of one key keep their order over several queues", func(t *testing.T) {
		parts := driver.Topology{Topics: []driver.Topic{{Name: "parts", Partitions: 4}}, Subscriptions: []string{"s"}}
		b := opened(t, config(t, target, logged, nil, map[string]any{"exchange": "direct"}), parts)
		var batch []driver.Message
		for slot := range uint32(60) {
			batch = append(batch, driver.Message{Slot: slot, Key: []byte{byte(slot % 3)}, Payload: []byte{byte(slot)}})
		}
		must(t, b.producer.Send(t.Context(), batch))
		eventually(t, "all were delivered", func() bool { return b.count() == len(batch) })
		last := map[byte]byte{}
		for _, p := range b.delivered {
			if key := p[0] % 3; p[0] < last[key] {
				t.Errorf("message %d came after message %d of the same key", p[0], last[key])
			}
			last[p[0]%3] = p[0]
		}
	})
	t.Run("every subscription gets every message, from several queues each", func(t *testing.T) {
		fan := driver.Topology{Topics: []driver.Topic{{Name: "fan", Partitions: 2}}, Subscriptions: []string{"a", "b", "c"}}
		b := opened(t, config(t, target, logged, nil, nil), fan)
		for slot := range uint32(4) {
			must(t, b.send(t, slot, string('a'+rune(slot))))
		}
		eventually(t, "12 deliveries", func() bool { return b.count() == 12 })
		slices.Sort(b.delivered)
		if got := strings.Join(b.delivered, ""); got != "aaabbbcccddd" {
			t.Errorf("delivered %s", got)
		}
	})
	t.Run("an unroutable mandatory message fails", func(t *testing.T) {
		c := config(t, target, logged, map[string]any{"mandatory": true}, map[string]any{"exchange": "fanout"})
		b := opened(t, c, driver.Topology{Topics: []driver.Topic{{Name: "nowhere", Partitions: 1}}})
		if err := b.send(t, 7, "lost"); !errors.Is(err, errReturned) {
			t.Errorf("the fate of an unroutable message is %v, want %v", err, errReturned)
		}
	})
}

func setupError(t *testing.T, c driver.Config, topology driver.Topology) error {
	t.Helper()
	drv, err := kind(t).Open(t.Context(), c)
	must(t, err)
	defer drv.Close()
	return drv.Setup(t.Context(), topology)
}

func requireError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v; want one that says %q", err, part)
	}
}
