package jetstream_test

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/natsio/natstest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const patience = 30 * time.Second

var quorum = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 3, Acks: driver.AcksQuorum, Ordering: driver.Ordered}

// books are the receipts and the sink of a test: what was acknowledged and what has arrived.
type books struct {
	mu       sync.Mutex
	lent     map[uint32]uint64 // slot to message
	acked    map[uint64]bool
	failed   int
	lastErr  error
	received map[uint64]int
	latest   uint64 // of received
	late     int    // first deliveries after a later message
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
		id := binary.LittleEndian.Uint64(p)
		if id < b.latest && b.received[id] == 0 {
			b.late++
		}
		b.latest = max(b.latest, id)
		b.received[id]++
	}
}

// send sends message id once a slot is free.
func (b *books) send(t *testing.T, p driver.Producer, id uint64) {
	t.Helper()
	select {
	case slot := <-b.free:
		b.mu.Lock()
		b.lent[slot] = id
		b.mu.Unlock()
		payload := binary.LittleEndian.AppendUint64(nil, id)
		if err := p.Send(context.Background(), []driver.Message{{Slot: slot, Payload: payload}}); err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatalf("no slot was completed for %v", patience)
	}
}

func (b *books) ackedCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.acked)
}

func (b *books) arrived() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.received)
}

// missing counts acknowledged messages that have not arrived.
func (b *books) missing() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.acked {
		if b.received[id] == 0 {
			n++
		}
	}
	return n
}

// again counts messages that arrived more than once.
func (b *books) again() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, times := range b.received {
		if times > 1 {
			n++
		}
	}
	return n
}

func openSession(t *testing.T, target driver.Target, g driver.Guarantee, client, topic map[string]any) (driver.Driver, error) {
	t.Helper()
	k := kind(t)
	c, err := driver.Decode(k.Settings, driver.ClientScope, client)
	if err != nil {
		t.Fatal(err)
	}
	tp, err := driver.Decode(k.Settings, driver.TopicScope, topic)
	if err != nil {
		t.Fatal(err)
	}
	return k.Open(context.Background(), driver.Config{Target: target, Guarantee: g, Client: c, Topic: tp, Log: testLog{t}})
}

type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("%s", p)
	return len(p), nil
}

func eventually(done func() bool) bool {
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// start sets topology up, starts one consumer and makes one producer; stop ends all of them.
func start(t *testing.T, drv driver.Driver, b *books) (p driver.Producer, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	if err := drv.Setup(ctx, driver.Topology{Topics: []driver.Topic{{Name: "orders", Partitions: 1}}, Subscriptions: []string{"audit"}}); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- drv.Consume(ctx, driver.ConsumerConfig{}, b, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	p, err := drv.Producer(ctx, driver.ProducerConfig{Topics: []int{0}, InFlight: cap(b.free), MaxBytes: 8}, b)
	if err != nil {
		t.Fatal(err)
	}
	return p, func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := drv.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestClusterWithTLSLosesNothingAcknowledgedWhenItsLeaderIsKilled(t *testing.T) {
	cluster := natstest.Start(t, provision.Options{Broker: "jetstream", Nodes: 3, TLS: true})
	drv, err := openSession(t, natstest.Target(cluster), quorum, map[string]any{"PublishAsyncTimeout": "2s"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBooks(64)
	p, stop := start(t, drv, b)
	next := uint64(0)
	until := func(acked int) {
		t.Helper()
		for end := time.Now().Add(patience); b.ackedCount() < acked; next++ {
			b.send(t, p, next)
			if time.Now().After(end) {
				t.Fatalf("only %d of %d messages were acknowledged; %d failed, the last with: %v", b.ackedCount(), acked, b.failed, b.lastErr)
			}
			time.Sleep(100 * time.Microsecond)
		}
	}
	until(500)
	before, err := cluster.NodeOf(context.Background(), "leader")
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Kill(context.Background(), before[0]); err != nil {
		t.Fatal(err)
	}
	until(b.ackedCount() + 500)
	after, err := cluster.NodeOf(context.Background(), "leader")
	if err != nil {
		t.Fatal(err)
	}
	if after[0] == before[0] {
		t.Errorf("node %d leads although it was killed", after[0])
	}
	if err := cluster.Restart(context.Background(), before[0]); err != nil {
		t.Fatal(err)
	}
	until(b.ackedCount() + 500)
	if !eventually(func() bool { return b.missing() == 0 }) {
		t.Errorf("%d of %d acknowledged messages did not arrive", b.missing(), b.ackedCount())
	}
	stop()
	t.Logf("%d acknowledged, %d failed (last: %v)", b.ackedCount(), b.failed, b.lastErr)
	if b.late > 0 {
		t.Errorf("%d messages came after a later one", b.late)
	}
}

func TestConsumerAndProducerGoOnAfterARestart(t *testing.T) {
	for _, g := range []driver.Guarantee{fileLeast, exactlyOnce} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			server := natstest.Start(t, provision.Options{Broker: "jetstream"})
			drv, err := openSession(t, natstest.Target(server), g, map[string]any{"AckWait": "1s"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			b := newBooks(16)
			p, stop := start(t, drv, b)
			for id := range uint64(100) {
				b.send(t, p, id)
			}
			if !eventually(func() bool { return b.ackedCount() == 100 }) {
				t.Fatalf("%d of 100 messages acknowledged; last error: %v", b.ackedCount(), b.lastErr)
			}
			if err := server.Kill(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			if err := server.Restart(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			// What is sent before the client has connected again waits in its buffer.
			for id := uint64(100); b.ackedCount() < 200 && id < 100_000; id++ {
				b.send(t, p, id)
				time.Sleep(time.Millisecond)
			}
			if !eventually(func() bool { return b.ackedCount() >= 200 && b.missing() == 0 }) {
				t.Errorf("%d messages acknowledged, %d of them did not arrive; last error: %v", b.ackedCount(), b.missing(), b.lastErr)
			}
			time.Sleep(1500 * time.Millisecond) // longer than AckWait
			stop()
			if b.late > 0 && g.Ordering == driver.Ordered {
				t.Errorf("%d messages came after a later one", b.late)
			}
			// The server has forgotten the acknowledgements of the last moment before it was killed.
			if n := b.again(); n > 0 && g.Delivery == driver.ExactlyOnce {
				t.Errorf("%d messages arrived more than once", n)
			}
		})
	}
}

func TestAckPolicyAllAcknowledgesTheLastMessageToo(t *testing.T) {
	server := natstest.Start(t, provision.Options{Broker: "jetstream"})
	drv, err := openSession(t, natstest.Target(server), memoryLeast, map[string]any{"AckPolicy": "all", "AckWait": "1s"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBooks(16)
	p, stop := start(t, drv, b)
	for id := range uint64(600) {
		b.send(t, p, id)
	}
	if !eventually(func() bool { return b.ackedCount() == 600 && b.missing() == 0 }) {
		t.Fatalf("%d of 600 acknowledged, %d missing", b.ackedCount(), b.missing())
	}
	time.Sleep(1500 * time.Millisecond) // longer than AckWait: what was not acknowledged would come again
	if n := b.again(); n > 0 {
		t.Errorf("%d messages arrived more than once", n)
	}
	if err := drv.Consume(t.Context(), driver.ConsumerConfig{ID: 1}, b, func() {}); err == nil {
		t.Error("a second consumer of the subscription was accepted; it would acknowledge what the first has not seen")
	}
	stop()
}

func TestReplicasAreRefusedByASingleServer(t *testing.T) {
	server := natstest.Start(t, provision.Options{Broker: "jetstream"})
	drv, err := openSession(t, natstest.Target(server), quorum, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer drv.Close()
	requireRefused(t, setUp(drv), "replicas: 3")
}

func TestAckPoliciesThatWouldWeakenOrExceedTheGuaranteeAreRefused(t *testing.T) {
	nowhere := driver.Target{Addresses: []string{"127.0.0.1:1"}}
	for _, c := range []struct {
		policy string
		asked  driver.Guarantee
	}{
		{"none", memoryLeast},
		{"none", exactlyOnce},
		{"all", exactlyOnce},
		{"all", memoryOnce},
		{"explicit", memoryOnce},
	} {
		_, err := openSession(t, nowhere, c.asked, map[string]any{"AckPolicy": c.policy}, nil)
		requireRefused(t, err, "client.AckPolicy: "+c.policy)
	}
}

func TestFsyncIsRefusedWhereTheServerWritesAtIntervals(t *testing.T) {
	server := natstest.Start(t, provision.Options{Broker: "jetstream"})
	attached := natstest.Target(server)
	attached.Endpoints = nil
	for name, target := range map[string]driver.Target{"provisioned": natstest.Target(server), "attached without a monitoring address": attached} {
		t.Run(name, func(t *testing.T) {
			drv, err := openSession(t, target, synced, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer drv.Close()
			requireRefused(t, setUp(drv), "persistence: fsync")
		})
	}
}

func setUp(drv driver.Driver) error {
	return drv.Setup(context.Background(), driver.Topology{Topics: []driver.Topic{{Name: "x", Partitions: 1}}})
}

func requireRefused(t *testing.T, err error, setting string) {
	t.Helper()
	var refusal *driver.ErrUnsupported
	if !errors.As(err, &refusal) || refusal.Setting != setting {
		t.Errorf("%v; want a refusal of %s", err, setting)
	}
}
