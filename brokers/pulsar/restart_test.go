package pulsar

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	most     = 60_000           // messages of one flow, each with a slot of its own
	chunk    = 300              // messages sent before the kill at least, right after it, and after the restart
	patience = 60 * time.Second // for everything that is owed after a restart
)

// book counts what was acknowledged and what was received, by the number that each payload begins with. Every message
// has a slot of its own, so the slot is that number.
type book struct {
	mu              sync.Mutex
	acked, received map[uint32]int
	failed          map[uint32]error
}

func newBook() book {
	return book{acked: map[uint32]int{}, received: map[uint32]int{}, failed: map[uint32]error{}}
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

func (b *book) done() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.acked) + len(b.failed)
}

func (b *book) arrived() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.received)
}

// ledger is what was acknowledged and never came, and what came more than once.
func (b *book) ledger() (lost, repeated int) {
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
	return lost, repeated
}

// promise is a guarantee with what it allows when a broker dies.
type promise struct {
	g                           driver.Guarantee
	mayLose, mayFail, mayRepeat bool
	cut                         bool // its client surely loses a connection
}

// flow is one producer and one consumer under one promise.
type flow struct {
	promise
	book
	drv      driver.Driver
	producer driver.Producer
	stop     context.CancelFunc
	ended    chan error
	log      lines
	sent     uint32
	open     int // messages without an answer when the broker was dead
	errs     []error
}

// lines keeps the end of what the client library has written.
type lines struct {
	mu   sync.Mutex
	last []string
}

func (l *lines) Write(p []byte) (int, error) {
	const keep = 15
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) == keep {
		l.last = l.last[1:]
	}
	l.last = append(l.last, string(p))
	return len(p), nil
}

func openFlow(t *testing.T, to driver.Target, p promise) *flow {
	t.Helper()
	f := &flow{promise: p, book: newBook(), ended: make(chan error, 1)}
	var err error
	f.drv, err = open(t.Context(), driver.Config{
		Target: to, Guarantee: p.g, Log: &f.log,
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
	if f.producer, err = f.drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: most, MaxBytes: 8}, &f.book); err != nil {
		t.Fatal(err)
	}
	return f
}

// run sends until the broker is dead, then something that it can't have answered, and, when it is back, something more;
// it waits for what the promise owes and closes everything.
func (f *flow) run(dead, back <-chan struct{}) {
	for f.send(chunk / 10); !closed(dead) && f.sent < most-3*chunk; f.send(chunk / 10) {
		time.Sleep(time.Millisecond)
	}
	<-dead
	f.send(chunk)
	f.open = int(f.sent) - f.done()
	<-back
	eventually(func() bool { return f.producer.(*producer).lines[0].now() != nil }) // it may have to be made anew
	f.send(chunk)
	// What comes again comes before the last messages do: they are the last in the topic.
	eventually(func() bool {
		lost, _ := f.ledger()
		return f.done() == int(f.sent) && (lost == 0 || f.mayLose)
	})
	f.note(f.producer.Close())
	f.stop()
	f.note(<-f.ended)
	f.note(f.drv.Close())
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// eventually waits for what a broker that is back does in time; what it has not done then, the ledger shows.
func eventually(done func() bool) {
	for end := time.Now().Add(patience); !done() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

func (f *flow) send(n int) {
	batch := make([]driver.Message, n)
	for i := range batch {
		batch[i] = driver.Message{Slot: f.sent, Payload: binary.LittleEndian.AppendUint32(nil, f.sent)}
		f.sent++
	}
	f.note(f.producer.Send(context.Background(), batch))
}

func (f *flow) note(err error) {
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

// breakAndCheck breaks the broker under the load of every promise, mends it, and compares.
func breakAndCheck(t *testing.T, to driver.Target, promises []promise, kill, mend func(context.Context) error) {
	t.Helper()
	flows := make([]*flow, len(promises))
	for i, p := range promises {
		flows[i] = openFlow(t, to, p)
	}
	dead, back := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for _, f := range flows {
		all.Go(func() { f.run(dead, back) })
	}
	for _, f := range flows { // the broker dies while it works
		eventually(func() bool { return f.arrived() >= chunk })
	}
	err := kill(t.Context())
	close(dead)
	if err == nil {
		err = mend(t.Context())
	}
	close(back)
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flows {
		t.Run(fmt.Sprintf("%s %s %s, copies: %d", f.g.Delivery, f.g.Persistence, f.g.Ordering, f.g.Replicas), f.check)
	}
}

func (f *flow) check(t *testing.T) {
	lost, repeated := f.ledger()
	t.Logf("%d sent, %d of them unanswered when the broker was dead; %d acknowledged, %d failed, %d received, %d lost, %d repeated",
		f.sent, f.open, len(f.acked), len(f.failed), len(f.received), lost, repeated)
	for _, err := range f.errs {
		t.Error(err)
	}
	if done := f.done(); done != int(f.sent) {
		t.Errorf("%d slots were completed, %d were given", done, f.sent)
	}
	if lost > 0 && !f.mayLose {
		t.Errorf("%d acknowledged messages were never received", lost)
	}
	if repeated > 0 && !f.mayRepeat {
		t.Errorf("%d messages were received again", repeated)
	}
	if !f.mayFail {
		for slot, err := range f.failed {
			t.Errorf("message %d failed: %v (and %d others)", slot, err, len(f.failed)-1)
			break
		}
	}
	if f.acked[f.sent-1] != 1 {
		t.Error("the last message was not acknowledged: the producer has not come back")
	}
	switch {
	case t.Failed():
		t.Logf("the client's last words:\n%s", strings.Join(f.log.last, ""))
	case len(f.log.last) == 0 && f.cut:
		t.Error("the client has lost its connection and written nothing to the log")
	}
}

// throughKillAndRestart ends the only server without warning and starts it again.
func throughKillAndRestart(t *testing.T, in *provision.Instance) {
	fsync := atLeast
	fsync.Persistence = driver.Fsync
	breakAndCheck(t, target(in), []promise{
		{g: memory, mayLose: true, mayFail: true, cut: true},
		{g: atMost, mayLose: true, mayFail: true, cut: true},
		{g: atLeast, mayRepeat: true, cut: true},
		{g: unordered(fsync), mayRepeat: true, cut: true},
		{g: exactly, cut: true},
		{g: unordered(exactly), cut: true},
	}, func(ctx context.Context) error { return in.Kill(ctx, 1) }, func(ctx context.Context) error { return in.Restart(ctx, 1) })
}
