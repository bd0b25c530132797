// Package amqptest is what the live tests of the AMQP 1.0 brokers share: a broker for a test, and books of what was
// sent, settled and delivered.
package amqptest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

// Guarantee is a guarantee of one replica.
func Guarantee(d driver.Delivery, p driver.Persistence, a driver.Acks, o driver.Ordering) driver.Guarantee {
	return driver.Guarantee{Delivery: d, Persistence: p, Replicas: 1, Acks: a, Ordering: o}
}

// The guarantees that every one of these brokers keeps.
var (
	Fast    = Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Unordered)
	Memory  = Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Unordered)
	Synced  = Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered)
	Ordered = Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered)
)

// Start brings a broker up for the test, or skips it where the broker can't be installed.
func Start(t *testing.T, o provision.Options) (*provision.Instance, driver.Target) {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	Must(t, err)
	o.Deadline = 2 * time.Minute
	in, err := host.Start(t.Context(), o)
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		t.Skipf("%s can't be installed here: %v", o.Broker, err)
	}
	Must(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the broker's last lines: %q", in.LogTail(1, 30))
		}
		if err := in.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in, reach.Instance(in)
}

// Conformance runs the suite with every fault on a broker of its own.
func Conformance(t *testing.T, o provision.Options, guarantees ...driver.Guarantee) {
	var in *provision.Instance
	ctx := context.Background()
	s := drivertest.Suite{
		Kind: Kind(t, o.Broker),
		Target: func(t *testing.T) (target driver.Target) {
			in, target = Start(t, o)
			return target
		},
		Guarantees: guarantees,
		Pause:      func(t *testing.T) { Must(t, in.Pause(ctx, 1)) },
		Resume:     func(t *testing.T) { Must(t, in.Resume(ctx, 1)) },
		Restart:    func(t *testing.T) { Must(t, in.Kill(ctx, 1)); Must(t, in.Restart(ctx, 1)) },
		Kill:       func(t *testing.T) { Must(t, in.Kill(ctx, 1)) },
		Cost:       func(*testing.T) drivertest.Cost { return livetest.Cost(in) },
	}
	if o.Version == "" { // once for each product
		s.Guarded = func(t *testing.T) driver.Target {
			_, target := Start(t, livetest.Guarded(o))
			return target
		}
	}
	drivertest.Run(t, s)
}

// Kind is the registered driver.
func Kind(t *testing.T, broker string) driver.Kind {
	t.Helper()
	k, err := driver.Lookup(broker)
	Must(t, err)
	return k
}

// Config decodes settings; nil are the defaults.
func Config(t *testing.T, broker string, target driver.Target, g driver.Guarantee, client, topic map[string]any) driver.Config {
	t.Helper()
	k := Kind(t, broker)
	c, err := driver.Decode(k.Settings, driver.ClientScope, client)
	Must(t, err)
	v, err := driver.Decode(k.Settings, driver.TopicScope, topic)
	Must(t, err)
	return driver.Config{Target: target, Guarantee: g, Client: c, Topic: v}
}

// Must ends the test on an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Books are the receipts and the sink of a test. Every message has a slot of its own, which its payload begins with.
type Books struct {
	mu       sync.Mutex
	fates    map[uint32]error
	received map[uint32][]int // by subscription
}

// Done implements driver.Receipts.
func (b *Books) Done(slots []uint32, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range slots {
		b.fates[s] = err
	}
}

// Acked counts what was settled without and with an error.
func (b *Books) Acked() (acked, failed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, err := range b.fates {
		if err == nil {
			acked++
		} else {
			failed++
		}
	}
	return acked, failed
}

// Lost counts the acknowledged messages that a subscription has not received.
func (b *Books) Lost() (lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for slot, err := range b.fates {
		for _, n := range b.received[slot] {
			if err == nil && n == 0 {
				lost++
			}
		}
	}
	return lost
}

type sink struct {
	b            *Books
	subscription int
}

func (s sink) Deliver(batch [][]byte) {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	for _, p := range batch {
		s.b.received[binary.LittleEndian.Uint32(p)][s.subscription]++
	}
}

var rigs atomic.Int32

// Rig is a driver with one topic, one producer and a consumer for each subscription.
type Rig struct {
	*Books
	Producer driver.Producer
	next     uint32
	subs     int
}

// Open makes a rig that is closed after the test.
func Open(t *testing.T, broker string, c driver.Config, subscriptions ...string) *Rig {
	t.Helper()
	drv, err := Kind(t, broker).Open(t.Context(), c)
	Must(t, err)
	topology := driver.Topology{Topics: []driver.Topic{{Name: fmt.Sprintf("rig-%d", rigs.Add(1)), Partitions: 1}}, Subscriptions: subscriptions}
	Must(t, drv.Setup(t.Context(), topology))
	r := &Rig{Books: &Books{fates: map[uint32]error{}, received: map[uint32][]int{}}, subs: len(subscriptions)}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for s := range subscriptions {
		up := make(chan struct{})
		wg.Go(func() {
			if err := drv.Consume(ctx, driver.ConsumerConfig{Subscription: s}, sink{r.Books, s}, func() { close(up) }); err != nil {
				t.Errorf("consume: %v", err)
			}
		})
		<-up
	}
	r.Producer, err = drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: 1 << 16, MaxBytes: 1000}, r.Books)
	Must(t, err)
	t.Cleanup(func() {
		Must(t, r.Producer.Close())
		cancel()
		wg.Wait()
		Must(t, drv.Close())
	})
	return r
}

// Send sends n messages.
func (r *Rig) Send(t *testing.T, n int) {
	t.Helper()
	batch := make([]driver.Message, n)
	r.mu.Lock()
	for i := range batch {
		batch[i] = driver.Message{Slot: r.next, Payload: binary.LittleEndian.AppendUint32(make([]byte, 0, 100), r.next)[:100]}
		r.received[r.next] = make([]int, r.subs)
		r.next++
	}
	r.mu.Unlock()
	Must(t, r.Producer.Send(t.Context(), batch))
}

// Settled waits until the fate of all that was sent is known and what was acknowledged has arrived.
func (r *Rig) Settled(t *testing.T) {
	t.Helper()
	Eventually(t, "all is settled, and what was acknowledged has arrived", func() bool {
		acked, failed := r.Acked()
		return acked+failed == int(r.next) && r.Lost() == 0
	})
}

// Eventually waits for something that a healthy broker does within a moment.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 4000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}
