package sim

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// receipts counts what a producer's slots have come to.
type receipts struct {
	mu           sync.Mutex
	acked, nacks int
	changed      chan struct{}
}

func (r *receipts) Done(slots []uint32, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.nacks += len(slots)
	} else {
		r.acked += len(slots)
	}
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *receipts) done() (acked, nacks int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.acked, r.nacks
}

// sink keeps the numbers of the messages delivered, in order; a corrupted one is the negative of its number.
type sink struct {
	mu      sync.Mutex
	numbers []int
	at      []time.Time
}

func (s *sink) Deliver(batch []driver.Received) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range batch {
		p := m.Payload
		n := int(binary.LittleEndian.Uint32(p))
		if p[len(p)-1] != 0 {
			n = -n
		}
		s.numbers = append(s.numbers, n)
		s.at = append(s.at, time.Now())
	}
}

func (s *sink) delivered() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), s.numbers...)
}

// rig is a broker with one topic, some subscriptions and one producer.
type rig struct {
	address  string
	drv      driver.Driver
	prod     driver.Producer
	receipts *receipts
	sinks    []*sink
}

func openBroker(t testing.TB, address string, client map[string]any) driver.Driver {
	t.Helper()
	v, err := driver.Decode(declared(), driver.ClientScope, client)
	if err != nil {
		t.Fatal(err)
	}
	d, err := open(context.Background(), driver.Config{
		Target: driver.Target{Addresses: []string{address}}, Guarantee: atLeastOnce, Client: v,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(); Remove(address) })
	return d
}

func newRig(t testing.TB, subscriptions int, client map[string]any) *rig {
	t.Helper()
	r := &rig{address: t.Name(), receipts: &receipts{changed: make(chan struct{}, 1)}}
	r.drv = openBroker(t, r.address, client)
	top := driver.Topology{Topics: []driver.Topic{{Name: "t", Partitions: 1}}}
	for i := range subscriptions {
		top.Subscriptions = append(top.Subscriptions, string(rune('a'+i)))
	}
	if err := r.drv.Setup(context.Background(), top); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var consumers sync.WaitGroup
	for i := range subscriptions {
		s := &sink{}
		r.sinks = append(r.sinks, s)
		ready := make(chan struct{})
		consumers.Go(func() {
			if err := r.drv.Consume(ctx, driver.ConsumerConfig{Subscription: i}, s, func() { close(ready) }); err != nil {
				t.Error(err)
			}
		})
		<-ready
	}
	prod, err := r.drv.Producer(context.Background(), driver.ProducerConfig{Topics: []int{0}, InFlight: 1 << 14, MaxBytes: 100}, r.receipts)
	if err != nil {
		t.Fatal(err)
	}
	r.prod = prod
	t.Cleanup(func() { _ = prod.Close(); cancel(); consumers.Wait() })
	return r
}

// send sends messages numbered from 1 to n in batches of 50; each of 16 bytes that end in zeros.
func (r *rig) send(t testing.TB, n int) {
	t.Helper()
	var batch []driver.Message
	for i := 1; i <= n; i++ {
		m := driver.Message{Slot: uint32(i), Payload: make([]byte, 16)}
		binary.LittleEndian.PutUint32(m.Payload, uint32(i))
		batch = append(batch, m)
		if len(batch) == 50 || i == n {
			if err := r.prod.Send(context.Background(), batch); err != nil {
				t.Fatal(err)
			}
			batch = batch[:0]
		}
	}
}

// settle waits until every slot and every delivery is done, and returns the truth.
func (r *rig) settle(t testing.TB, slots, deliveries int) Counts {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		acked, nacks := r.receipts.done()
		truth, _ := Stats(r.address)
		if acked+nacks >= slots && truth.Delivered >= int64(deliveries) {
			return truth
		}
		if time.Now().After(end) {
			t.Fatalf("after 20 s: %d slots acknowledged, %d refused of %d; %+v, want %d deliveries", acked, nacks, slots, truth, deliveries)
		}
	}
}
