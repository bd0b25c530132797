package resend_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

var errLost = fmt.Errorf("test: %w", driver.ErrDisconnected)

// line is a producer whose outcomes the test decides.
type line struct {
	mu       sync.Mutex
	receipts driver.Receipts
	down     bool
	open     []uint32         // without an outcome
	sent     []driver.Message // ever
	refused  []int            // sizes of the batches that found it down
	closed   bool
}

func (l *line) Send(_ context.Context, batch []driver.Message) error {
	l.mu.Lock()
	down := l.down
	if down {
		l.refused = append(l.refused, len(batch))
	}
	var refused []uint32
	for _, m := range batch {
		if down {
			refused = append(refused, m.Slot)
			continue
		}
		l.sent = append(l.sent, m)
		l.open = append(l.open, m.Slot)
	}
	l.mu.Unlock()
	if down {
		l.receipts.Done(refused, errLost)
		return errLost
	}
	return nil
}

func (l *line) Flush(context.Context) error { return nil }

func (l *line) Close() error {
	l.closed = true
	l.complete(100, errors.New("closed"))
	return nil
}

// complete gives the first n open slots an outcome.
func (l *line) complete(n int, err error) {
	l.mu.Lock()
	done := slices.Clone(l.open[:min(n, len(l.open))])
	l.open = l.open[len(done):]
	l.mu.Unlock()
	if len(done) > 0 {
		l.receipts.Done(done, err)
	}
}

func (l *line) turn(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

// payloads are the first bytes of everything sent so far.
func (l *line) payloads() (out []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.sent {
		out = append(out, m.Payload[0])
	}
	return out
}

// fates are receipts.
type fates struct {
	mu   sync.Mutex
	of   map[uint32][]error
	more int
}

func (f *fates) Done(slots []uint32, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range slots {
		f.of[s] = append(f.of[s], err)
	}
}

func (f *fates) Resent(slots []uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.more += len(slots)
}

func (f *fates) count() (n, resent int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.of), f.more
}

func (f *fates) require(t *testing.T, slot uint32, want error) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := f.of[slot]; len(got) != 1 || !errors.Is(got[0], want) {
		t.Errorf("slot %d was completed with %v; want once, with %v", slot, got, want)
	}
}

func start(t *testing.T, d driver.Delivery) (driver.Producer, *line, *fates) {
	t.Helper()
	return startWith(t, driver.Guarantee{Delivery: d})
}

func startWith(t *testing.T, g driver.Guarantee) (driver.Producer, *line, *fates) {
	t.Helper()
	l, f := &line{}, &fates{of: map[uint32][]error{}}
	p, err := resend.Producer(g, driver.ProducerConfig{InFlight: 8}, f, func(r driver.Receipts) (driver.Producer, error) {
		l.receipts = r
		return l, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, l, f
}

// batch are messages in slots from on; slot and payload are the same number.
func batch(from, n byte) (out []driver.Message) {
	for i := from; i < from+n; i++ {
		out = append(out, driver.Message{Slot: uint32(i), Payload: []byte{i}})
	}
	return out
}

func send(t *testing.T, p driver.Producer, b []driver.Message) {
	t.Helper()
	if err := p.Send(t.Context(), b); err != nil {
		t.Fatalf("Send: %v", err)
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 5000 {
		if done() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}

func TestWhatIsSentAgainComesInItsOrderBeforeWhatIsNew(t *testing.T) {
	p, l, f := start(t, driver.AtLeastOnce)
	send(t, p, batch(0, 6))
	l.complete(2, nil)
	l.mu.Lock()
	l.open[0], l.open[3] = l.open[3], l.open[0] // reported in another order
	l.mu.Unlock()
	l.complete(2, errLost)
	l.complete(2, errLost)
	send(t, p, batch(6, 2))
	if got, want := l.payloads(), []byte{0, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("sent were %v, want %v", got, want)
	}
	for i, m := range l.sent {
		if want := i >= 6 && i < 10; m.Resent != want {
			t.Errorf("message %d was marked as sent again: %v, want %v", i, m.Resent, want)
		}
	}
	l.complete(6, nil)
	for slot := range uint32(8) {
		f.require(t, slot, nil)
	}
	if _, resent := f.count(); resent != 4 {
		t.Errorf("%d were counted as sent again, want 4", resent)
	}
	if err := p.Close(); err != nil || !l.closed {
		t.Errorf("Close: %v; the inner producer was closed: %v", err, l.closed)
	}
}

func TestItGoesOnUntilTheConnectionIsBack(t *testing.T) {
	p, l, f := start(t, driver.ExactlyOnce)
	send(t, p, batch(0, 1))
	l.turn(true)
	l.complete(1, errLost)
	eventually(t, "three attempts", func() bool { _, resent := f.count(); return resent >= 3 })
	l.turn(false)
	eventually(t, "the message is sent again", func() bool { return len(l.payloads()) == 2 })
	l.complete(1, nil)
	f.require(t, 0, nil)
	_ = p.Close()
}

func TestOnlyOneMessageKnocksWhileNobodyIsThere(t *testing.T) {
	p, l, f := start(t, driver.AtLeastOnce)
	l.turn(true)
	send(t, p, batch(0, 6))
	eventually(t, "four attempts", func() bool { _, resent := f.count(); return resent >= 6+3 })
	l.turn(false)
	send(t, p, batch(6, 1)) // waits for the others
	if got := l.refused; !slices.Equal(got[:4], []int{6, 6, 1, 1}) || slices.Max(got[2:]) > 1 {
		t.Errorf("the batches that found nobody had sizes %v; want 6 twice, then 1", got)
	}
	if got, want := l.payloads(), []byte{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("sent were %v, want %v", got, want)
	}
	l.complete(7, nil)
	f.require(t, 0, nil)
	_ = p.Close()
}

func TestOrderedNothingIsSentAgainBeforeAllInFlightHaveAnOutcome(t *testing.T) {
	p, l, f := startWith(t, driver.Guarantee{Delivery: driver.AtLeastOnce, Ordering: driver.Ordered})
	send(t, p, batch(0, 4))
	l.mu.Lock()
	l.open[0], l.open[2] = l.open[2], l.open[0]
	l.mu.Unlock()
	l.complete(1, errLost) // 2 is refused while nothing is known of 0, 1 and 3
	time.Sleep(150 * time.Millisecond)
	if got := l.payloads(); len(got) != 4 {
		t.Errorf("sent were %v while messages were in flight; 0 and 1, if lost, would come behind 2", got)
	}
	l.complete(2, errLost) // 1 and 0
	l.complete(1, nil)
	sent := func(want ...byte) {
		t.Helper()
		eventually(t, fmt.Sprintf("%v were sent", want), func() bool { return slices.Equal(l.payloads(), want) })
	}
	sent(0, 1, 2, 3, 0)
	time.Sleep(150 * time.Millisecond)
	sent(0, 1, 2, 3, 0) // the others wait until it is acknowledged
	l.complete(1, errLost)
	sent(0, 1, 2, 3, 0, 0)
	l.complete(1, nil)
	sent(0, 1, 2, 3, 0, 0, 1, 2)
	l.complete(2, nil)
	for slot := range uint32(4) {
		f.require(t, slot, nil)
	}
	_ = p.Close()
}

func TestOrderedCloseDoesNotWaitForAnOutcomeThatNeverComes(t *testing.T) {
	p, l, f := startWith(t, driver.Guarantee{Delivery: driver.AtLeastOnce, Ordering: driver.Ordered})
	send(t, p, batch(0, 2))
	l.complete(1, errLost)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	f.require(t, 0, driver.ErrDisconnected)
	if n, _ := f.count(); n != 2 {
		t.Errorf("%d slots were completed, want 2", n)
	}
}

func TestOtherErrorsAreFinal(t *testing.T) {
	refused := errors.New("refused")
	p, l, f := start(t, driver.AtLeastOnce)
	send(t, p, batch(0, 2))
	l.complete(1, refused)
	f.require(t, 0, refused)
	_ = p.Close()
}

func TestAtMostOnceNothingIsSentAgain(t *testing.T) {
	p, l, f := start(t, driver.AtMostOnce)
	send(t, p, batch(0, 1))
	l.complete(1, errLost)
	f.require(t, 0, driver.ErrDisconnected)
	if p != driver.Producer(l) {
		t.Error("the producer is wrapped for nothing")
	}
}

func TestCloseCompletesWhatWaitsWithTheReason(t *testing.T) {
	p, l, f := start(t, driver.AtLeastOnce)
	l.turn(true)
	send(t, p, batch(0, 3))
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for slot := range uint32(3) {
		f.require(t, slot, driver.ErrDisconnected)
	}
}

func TestSendThatWaitsEndsWithItsContext(t *testing.T) {
	p, l, f := start(t, driver.AtLeastOnce)
	l.turn(true)
	send(t, p, batch(0, 1))
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the trial is over")
	time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
	if err := p.Send(ctx, batch(1, 2)); !errors.Is(err, why) {
		t.Errorf("Send ended with %v, want %v", err, why)
	}
	f.require(t, 1, why)
	f.require(t, 2, why)
	_ = p.Close()
	f.require(t, 0, driver.ErrDisconnected)
}

func TestAllocatesNothingWhileTheConnectionLives(t *testing.T) {
	p, l, _ := start(t, driver.AtLeastOnce)
	defer p.Close()
	b := batch(0, 8)
	l.sent = make([]driver.Message, 0, 1<<16)
	l.open = make([]uint32, 0, 8)
	inner := testing.AllocsPerRun(1000, func() { _ = l.Send(t.Context(), b); l.open, l.sent = l.open[:0], l.sent[:0] })
	both := testing.AllocsPerRun(1000, func() { _ = p.Send(t.Context(), b); l.open, l.sent = l.open[:0], l.sent[:0] })
	if both > inner {
		t.Errorf("%v allocations per batch, %v without the wrapper", both, inner)
	}
}

func BenchmarkSend(b *testing.B) {
	p, err := resend.Producer(driver.Guarantee{Delivery: driver.AtLeastOnce}, driver.ProducerConfig{InFlight: 64}, &fates{}, func(driver.Receipts) (driver.Producer, error) { return idle{}, nil })
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for _, size := range []byte{1, 64} {
		messages := batch(0, size)
		b.Run(fmt.Sprintf("batches of %d", size), func(b *testing.B) {
			for range b.N {
				_ = p.Send(b.Context(), messages)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/message")
		})
	}
}

type idle struct{}

func (idle) Send(context.Context, []driver.Message) error { return nil }
func (idle) Flush(context.Context) error                  { return nil }
func (idle) Close() error                                 { return nil }
