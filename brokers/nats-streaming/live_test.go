package natsstreaming_test

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const patience = 40 * time.Second

// books are the receipts and the sink of a test: what was acknowledged and what has arrived.
type books struct {
	mu       sync.Mutex
	lent     map[uint32]uint64 // slot to message
	acked    map[uint64]bool
	failed   int
	lastErr  error
	received map[uint64]int
	free     chan uint32
}

func newBooks(slots int) *books {
	b := &books{lent: map[uint32]uint64{}, acked: map[uint64]bool{}, received: map[uint64]int{}, free: make(chan uint32, slots)}
	for i := range slots {
		b.free <- uint32(i)
	}
	return b
}

func (b *books) Done(slots []uint32, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range slots {
		if err == nil {
			b.acked[b.lent[s]] = true
		} else {
			b.failed, b.lastErr = b.failed+1, err
		}
		b.free <- s
	}
}

func (b *books) Deliver(batch [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range batch {
		b.received[binary.LittleEndian.Uint64(p)]++
	}
}

func (b *books) count() (acked, arrived, missing int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.acked {
		if b.received[id] == 0 {
			missing++
		}
	}
	return len(b.acked), len(b.received), missing
}

// send sends message id once a slot is free. It may be called from any goroutine, one at a time.
func (b *books) send(t *testing.T, p driver.Producer, id uint64) {
	t.Helper()
	select {
	case slot := <-b.free:
		b.mu.Lock()
		b.lent[slot] = id
		b.mu.Unlock()
		payload := binary.LittleEndian.AppendUint64(nil, id)
		if err := p.Send(t.Context(), []driver.Message{{Slot: slot, Payload: payload}}); err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Errorf("no slot was completed for %v", patience)
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

func open(t *testing.T, target driver.Target, g driver.Guarantee, client map[string]any) (driver.Driver, error) {
	t.Helper()
	k := kind(t)
	c, err := driver.Decode(k.Settings, driver.ClientScope, client)
	must(t, err)
	return k.Open(t.Context(), driver.Config{Target: target, Guarantee: g, Client: c})
}

var orders = driver.Topology{Topics: []driver.Topic{{Name: "orders", Partitions: 1}}, Subscriptions: []string{"audit"}}

// opened is a driver whose topology is set up.
func opened(t *testing.T, target driver.Target, g driver.Guarantee, client map[string]any) driver.Driver {
	t.Helper()
	drv, err := open(t, target, g, client)
	must(t, err)
	t.Cleanup(func() { must(t, drv.Close()) })
	must(t, drv.Setup(t.Context(), orders))
	return drv
}

// consume starts a consumer and returns what ends it.
func consume(t *testing.T, drv driver.Driver, b *books) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- drv.Consume(ctx, driver.ConsumerConfig{}, b, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		cancel()
		must(t, <-ended)
	})
	t.Cleanup(end)
	return end
}

func producer(t *testing.T, drv driver.Driver, b *books) driver.Producer {
	t.Helper()
	p, err := drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: cap(b.free), MaxBytes: 8}, b)
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

func TestClusterLosesNothingAcknowledgedWhenItsLeaderIsKilled(t *testing.T) {
	cluster, target := started(t, quorum, provision.Options{TLS: true})
	drv := opened(t, target, quorum, map[string]any{"PubAckWait": "1s"})
	b := newBooks(64)
	consume(t, drv, b)
	p := producer(t, drv, b)
	next := uint64(0)
	more := func(n int) {
		t.Helper()
		before, _, _ := b.count()
		for end := time.Now().Add(patience); ; next++ {
			if acked, _, _ := b.count(); acked >= before+n {
				return
			}
			b.send(t, p, next)
			if time.Now().After(end) {
				t.Fatalf("fewer than %d messages were acknowledged; the last error: %v", n, b.lastErr)
			}
			time.Sleep(100 * time.Microsecond)
		}
	}
	more(300)
	before, err := cluster.NodeOf(t.Context(), "leader")
	must(t, err)
	must(t, cluster.Kill(t.Context(), before[0]))
	more(300)
	after, err := cluster.NodeOf(t.Context(), "leader")
	must(t, err)
	if after[0] == before[0] {
		t.Errorf("node %d leads although it was killed", after[0])
	}
	must(t, cluster.Restart(t.Context(), before[0]))
	more(300)
	eventually(t, "what was acknowledged arrives", func() bool { _, _, missing := b.count(); return missing == 0 })
	if b.failed > 0 {
		t.Errorf("%d messages failed, the last with: %v", b.failed, b.lastErr)
	}
}

func TestAServerThatLostItsMemoryGoesOnWithTheSameClients(t *testing.T) {
	server, target := started(t, memory, provision.Options{})
	drv := opened(t, target, memory, nil)
	b := newBooks(64)
	consume(t, drv, b)
	p := producer(t, drv, b)
	b.send(t, p, 0)
	eventually(t, "the first message arrives", func() bool { _, arrived, _ := b.count(); return arrived == 1 })
	must(t, server.Kill(t.Context(), 1))
	sent := make(chan struct{})
	go func() { // what is sent meanwhile waits
		defer close(sent)
		for id := uint64(1); id <= 50; id++ {
			b.send(t, p, id)
		}
	}()
	must(t, server.Restart(t.Context(), 1))
	<-sent
	eventually(t, "all messages are acknowledged and arrive", func() bool { acked, arrived, _ := b.count(); return acked == 51 && arrived == 51 })
	if b.failed > 0 {
		t.Errorf("%d messages failed, the last with: %v", b.failed, b.lastErr)
	}
}

func TestWhatCameWhileAConsumerWasAwayIsDelivered(t *testing.T) {
	_, target := started(t, memory, provision.Options{})
	for _, g := range []driver.Guarantee{once, memory} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			drv := opened(t, target, g, nil)
			b := newBooks(64)
			p := producer(t, drv, b)
			send := func(from, until uint64) {
				for id := from; id < until; id++ {
					b.send(t, p, id)
				}
				eventually(t, "all are acknowledged", func() bool { acked, _, _ := b.count(); return acked == int(until) })
			}
			send(0, 1500) // more than MaxInflight
			end := consume(t, drv, b)
			eventually(t, "the first come", func() bool { _, arrived, _ := b.count(); return arrived == 1500 })
			end()
			send(1500, 2000)
			consume(t, drv, b)
			eventually(t, "the others come", func() bool { _, arrived, _ := b.count(); return arrived == 2000 })
			if again := sum(b) - 2000; again > 0 && g.Delivery == driver.AtMostOnce {
				t.Errorf("%d messages were delivered again", again)
			}
			must(t, drv.(driver.Cleaner).Clean(t.Context()))
		})
	}
}

func sum(b *books) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for times := range maps.Values(b.received) {
		n += times
	}
	return n
}

func TestGuaranteesThatTheServerDoesNotKeepAreRefused(t *testing.T) {
	_, inMemory := started(t, memory, provision.Options{})
	_, onFiles := started(t, logged, provision.Options{})
	attached, blind := onFiles, onFiles
	attached.Version, blind.Endpoints = "", nil
	replicated := quorum
	for name, c := range map[string]struct {
		target driver.Target
		asked  driver.Guarantee
		want   string
	}{
		"log of a memory store":              {inMemory, logged, "persistence: log"},
		"log, nobody to ask":                 {blind, logged, "persistence: log"},
		"fsync of a server we didn't start":  {attached, synced, "persistence: fsync"},
		"three replicas of one server":       {onFiles, replicated, "replicas: 3"},
		"three replicas, nobody to ask":      {blind, driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 3, Acks: driver.AcksQuorum}, "persistence: log"},
		"partitions, on a server that keeps": {onFiles, logged, ""},
	} {
		drv, err := open(t, c.target, c.asked, nil)
		must(t, err)
		requireRefused(t, name, drv.Setup(t.Context(), orders), c.want)
		must(t, drv.Close())
	}
}

func TestAnotherClusterIDIsNamed(t *testing.T) {
	_, target := started(t, memory, provision.Options{})
	_, err := open(t, target, memory, map[string]any{"ClusterID": "orion"})
	if err == nil || !strings.Contains(err.Error(), `cluster ID "orion"`) {
		t.Errorf("Open failed with %v; want it to name the cluster ID", err)
	}
}

func requireRefused(t *testing.T, name string, err error, setting string) {
	t.Helper()
	var refusal *driver.ErrUnsupported
	if setting == "" && err == nil {
		return
	}
	if !errors.As(err, &refusal) || refusal.Setting != setting {
		t.Errorf("%s: %v; want a refusal of %q", name, err, setting)
	}
}
