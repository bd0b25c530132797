package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// fake is a driver whose producers confirm when they are told to.
type fake struct {
	driver.Driver
	mu        sync.Mutex
	producers []*producer
	refuse    error
	auto      bool // confirms at once
}

type producer struct {
	of       *fake
	receipts driver.Receipts
	window   int
	mu       sync.Mutex
	open     []uint32
	payloads []string
	sending  atomic.Int32
	closed   bool
}

func (f *fake) Producer(_ context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	if f.refuse != nil {
		return nil, f.refuse
	}
	p := &producer{of: f, receipts: r, window: c.InFlight}
	f.mu.Lock()
	f.producers = append(f.producers, p)
	f.mu.Unlock()
	return p, nil
}

func (p *producer) Send(_ context.Context, batch []driver.Message) error {
	if p.sending.Add(1) != 1 {
		panic("two goroutines use one producer")
	}
	defer p.sending.Add(-1)
	p.mu.Lock()
	for _, m := range batch {
		p.open = append(p.open, m.Slot)
		p.payloads = append(p.payloads, string(m.Payload))
	}
	if len(p.open) > p.window {
		panic("more messages than slots")
	}
	p.mu.Unlock()
	if p.of.auto {
		p.confirm(nil)
	}
	return nil
}

func (p *producer) confirm(err error) int {
	p.mu.Lock()
	open := p.open
	p.open = nil
	p.mu.Unlock()
	if len(open) > 0 {
		p.receipts.Done(open, err)
	}
	return len(open)
}

func (p *producer) Flush(context.Context) error { return nil }

func (p *producer) Close() error {
	p.confirm(errors.New("closed"))
	p.closed = true
	return nil
}

func (f *fake) confirmed(err error) (n int) {
	for _, p := range f.producers {
		n += p.confirm(err)
	}
	return n
}

func (f *fake) sent() (n int) {
	for _, p := range f.producers {
		p.mu.Lock()
		n += len(p.payloads)
		p.mu.Unlock()
	}
	return n
}

func made(t *testing.T, f *fake, c Config) *Pool {
	t.Helper()
	if c.Patience == 0 {
		c.Patience = 10 * time.Second
	}
	if c.Fate == 0 {
		c.Fate = 10 * time.Second
	}
	p, err := New(t.Context(), f, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// until waits for what other goroutines bring about.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

func TestPublishReturnsWhenTheBrokerHasConfirmed(t *testing.T) {
	f := &fake{}
	p := made(t, f, Config{Producers: 2, Window: 1, Waiting: 10})
	results := make(chan error, 3)
	for i := range 3 {
		go func() { results <- p.Publish(fmt.Append(nil, i)) }()
	}
	until(t, "both producers have sent", func() bool { return f.sent() == 2 })
	select {
	case err := <-results:
		t.Fatalf("Publish returned %v before any confirmation", err)
	case <-time.After(20 * time.Millisecond):
	}
	until(t, "the third was sent", func() bool { f.confirmed(nil); return f.sent() == 3 })
	f.confirmed(nil)
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if err := p.Close(); err != nil || p.Counts().Published != 3 {
		t.Error(err, p.Counts())
	}
}

func TestAFailureOfTheBrokerIsPublishsOwn(t *testing.T) {
	f := &fake{}
	p := made(t, f, Config{Producers: 1, Window: 4, Waiting: 10})
	no := errors.New("no queue")
	got := make(chan error)
	go func() { got <- p.Publish([]byte("a")) }()
	until(t, "sent", func() bool { return f.confirmed(no) == 1 })
	if err := <-got; !errors.Is(err, no) {
		t.Error(err)
	}
	_ = p.Close()
	if c := p.Counts(); c.Failed != 1 || c.Published+c.FailedLater != 0 {
		t.Error(c)
	}
}

func TestWhatFindsNoProducerInTimeIsNeverSent(t *testing.T) {
	f := &fake{}
	p := made(t, f, Config{Producers: 1, Window: 1, Waiting: 1, Patience: 20 * time.Millisecond, Fate: 5 * time.Second})
	first := make(chan error)
	go func() { first <- p.Publish([]byte("first")) }()
	until(t, "the first is sent", func() bool { return f.sent() == 1 })
	if err := p.Publish([]byte("second")); !errors.Is(err, ErrBusy) {
		t.Errorf("second: %v", err)
	}
	if err := p.Publish([]byte("third, while the second still lies there")); !errors.Is(err, ErrBusy) {
		t.Errorf("third: %v", err)
	}
	f.confirmed(nil)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil || f.sent() != 1 || p.Counts().Busy != 2 {
		t.Errorf("%v, %d were sent: %v", err, f.sent(), p.Counts())
	}
}

func TestAnOutcomeThatDoesNotComeIsUnknownAndCountedWhenItComes(t *testing.T) {
	for _, later := range []error{nil, errors.New("lost")} {
		f := &fake{}
		p := made(t, f, Config{Producers: 1, Window: 1, Waiting: 1, Patience: 5 * time.Millisecond, Fate: 10 * time.Millisecond})
		if err := p.Publish([]byte("a")); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
		if f.producers[0].payloads[0] != "a" {
			t.Errorf("its payload is %q while the client still has it", f.producers[0].payloads[0])
		}
		f.confirmed(later)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if c := p.Counts(); c.Unknown != 1 || (later == nil) != (c.Published == 1) || (later != nil) != (c.FailedLater == 1) {
			t.Errorf("%v: %+v", later, c)
		}
	}
}

func TestAtOnceDoesNotWaitForTheConfirmation(t *testing.T) {
	f := &fake{}
	p := made(t, f, Config{Producers: 1, Window: 8, Waiting: 8, AtOnce: true})
	for i := range 5 {
		if err := p.Publish(fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	if c := p.Counts(); c.Published != 0 {
		t.Errorf("%+v before any confirmation", c)
	}
	f.producers[0].mu.Lock()
	lost := f.producers[0].open[:1]
	f.producers[0].open = f.producers[0].open[1:]
	f.producers[0].mu.Unlock()
	f.producers[0].receipts.Done(lost, errors.New("lost"))
	f.confirmed(nil)
	_ = p.Close()
	if c := p.Counts(); c.Published != 4 || c.FailedLater != 1 {
		t.Errorf("%+v", c)
	}
}

func TestCloseLosesNothingThatWasTaken(t *testing.T) {
	f := &fake{auto: true}
	p := made(t, f, Config{Producers: 3, Window: 2, Waiting: 1000})
	var accepted atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for p.Publish([]byte("x")) == nil {
				accepted.Add(1)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	if n := int64(f.sent()); n != accepted.Load() || n == 0 {
		t.Errorf("%d were sent, %d accepted", n, accepted.Load())
	}
	for _, one := range f.producers {
		if !one.closed {
			t.Error("a producer was left open")
		}
	}
	if err := p.Publish(nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestAProducerThatCannotBeOpenedIsAnError(t *testing.T) {
	no := errors.New("too many connections")
	if _, err := New(t.Context(), &fake{refuse: no}, Config{Producers: 2}); !errors.Is(err, no) {
		t.Error(err)
	}
}
