package pulsar

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const messages = 3000

// book counts what was acknowledged and what was received, by the number that each payload begins with. Every message
// has a slot of its own, so the slot is that number.
type book struct {
	mu              sync.Mutex
	acked, received map[uint32]int
	failed          map[uint32]error
}

func (b *book) Done(slots []uint32, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, slot := range slots {
		if err != nil {
			b.failed[slot] = err
		} else {
			b.acked[slot]++
		}
	}
}

func (b *book) Deliver(batch [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, payload := range batch {
		b.received[binary.LittleEndian.Uint32(payload)]++
	}
}

func (b *book) counts() (done, lost, repeated int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for slot := range b.acked {
		if b.received[slot] == 0 {
			lost++
		}
	}
	for _, n := range b.received {
		if n > 1 {
			repeated++
		}
	}
	return len(b.acked) + len(b.failed), lost, repeated
}

// flow is one producer and one consumer under one guarantee.
type flow struct {
	book
	drv      driver.Driver
	producer driver.Producer
	stop     context.CancelFunc
	ended    chan error
	errs     []error
}

func openFlow(t *testing.T, in *provision.Instance, g driver.Guarantee) *flow {
	t.Helper()
	f := &flow{book: book{acked: map[uint32]int{}, received: map[uint32]int{}, failed: map[uint32]error{}}, ended: make(chan error, 1)}
	var err error
	f.drv, err = open(t.Context(), driver.Config{
		Target: target(in), Guarantee: g, Log: t.Output(),
		Client: decode(t, driver.ClientScope, nil), Topic: decode(t, driver.TopicScope, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.drv.Setup(t.Context(), driver.Topology{Topics: []driver.Topic{{Name: "restart", Partitions: 1}}, Subscriptions: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	var consuming context.Context
	consuming, f.stop = context.WithCancel(context.Background())
	ready := make(chan struct{})
	go func() { f.ended <- f.drv.Consume(consuming, driver.ConsumerConfig{}, &f.book, func() { close(ready) }) }()
	<-ready
	if f.producer, err = f.drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: messages, MaxBytes: 8}, &f.book); err != nil {
		t.Fatal(err)
	}
	return f
}

// run sends half of the messages while the broker dies and half when it is back, waits for what the guarantee owes, and
// closes everything.
func (f *flow) run(restarted <-chan struct{}, mayLose bool) {
	ctx := context.Background()
	f.send(ctx, 0, messages/2)
	<-restarted
	for end := time.Now().Add(time.Minute); f.producer.(*producer).lines[0].now() == nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // for one that is made anew
	}
	f.send(ctx, messages/2, messages)
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if done, lost, _ := f.counts(); done == messages && (lost == 0 || mayLose) {
			break
		}
	}
	time.Sleep(2 * time.Second) // for what would come again
	f.note(f.producer.Close())
	f.stop()
	f.note(<-f.ended)
	f.note(f.drv.(driver.Cleaner).Clean(ctx))
	f.note(f.drv.Close())
}

func (f *flow) send(ctx context.Context, from, to uint32) {
	for slot := from; slot < to; slot++ {
		payload := binary.LittleEndian.AppendUint32(nil, slot)
		f.note(f.producer.Send(ctx, []driver.Message{{Slot: slot, Payload: payload}}))
		time.Sleep(time.Millisecond)
	}
}

func (f *flow) note(err error) {
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

func TestGuaranteesHoldThroughKillAndRestart(t *testing.T) {
	in := start(t, provision.Options{Server: map[string]any{"journalSyncData": true}})
	fsync := atLeast
	fsync.Persistence = driver.Fsync
	breakAndCheck(t, in, []promise{
		{g: memory, mayLose: true, mayFail: true},
		{g: atMost, mayLose: true, mayFail: true},
		{g: atLeast, mayRepeat: true},
		{g: unordered(fsync), mayRepeat: true},
		{g: exactly},
		{g: unordered(exactly)},
	})
}

// promise is a guarantee with what it allows.
type promise struct {
	g                           driver.Guarantee
	mayLose, mayFail, mayRepeat bool
}

// breakAndCheck kills the leader under the load of every promise, starts it again, and compares.
func breakAndCheck(t *testing.T, in *provision.Instance, promises []promise) {
	t.Helper()
	flows := make([]*flow, len(promises))
	for i, p := range promises {
		flows[i] = openFlow(t, in, p.g)
	}
	restarted := make(chan struct{})
	var all sync.WaitGroup
	for i, f := range flows {
		all.Go(func() { f.run(restarted, promises[i].mayLose) })
	}
	time.Sleep(time.Second)
	leader, err := in.NodeOf(t.Context(), "leader")
	if err == nil {
		err = in.Kill(t.Context(), leader[0])
	}
	if err == nil {
		err = in.Restart(t.Context(), leader[0])
	}
	close(restarted)
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range promises {
		t.Run(fmt.Sprintf("%s %s %s, copies: %d", p.g.Delivery, p.g.Persistence, p.g.Ordering, p.g.Replicas), func(t *testing.T) {
			f := flows[i]
			done, lost, repeated := f.counts()
			t.Logf("%d acknowledged, %d failed, %d received, %d lost, %d repeated", len(f.acked), len(f.failed), len(f.received), lost, repeated)
			for _, err := range f.errs {
				t.Error(err)
			}
			if done != messages {
				t.Errorf("%d slots were completed, %d were given", done, messages)
			}
			if lost > 0 && !p.mayLose {
				t.Errorf("%d acknowledged messages were never received", lost)
			}
			if repeated > 0 && !p.mayRepeat {
				t.Errorf("%d messages were received again", repeated)
			}
			for slot, err := range f.failed {
				if !p.mayFail {
					t.Errorf("message %d failed: %v (and %d others)", slot, err, len(f.failed)-1)
				}
				break
			}
			if f.acked[messages-1] != 1 {
				t.Error("the last message was not acknowledged: the producer has not come back")
			}
		})
	}
}
