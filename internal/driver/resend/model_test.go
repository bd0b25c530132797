package resend_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
	"github.com/brokermark/brokermark/internal/testkit"
)

var errRefused = errors.New("refused")

// scenario is what happens to a producer, step by step.
type scenario struct {
	ordered bool
	steps   []step
	closed  bool // Close comes while things are open; else the broker comes back and acknowledges everything
	final   error
}

type step struct {
	do string
	n  int
}

var scenarios = rapid.Custom(func(t *rapid.T) scenario {
	verbs := []string{"send", "send", "send", "ack", "ack", "refuse", "cut", "report", "down", "up", "wait", "wait long"}
	return scenario{
		ordered: rapid.Bool().Draw(t, "ordered"),
		steps: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{rapid.SampledFrom(verbs).Draw(t, "do"), rapid.IntRange(0, 4).Draw(t, "n")}
		}), 0, 40).Draw(t, "steps"),
		closed: rapid.Bool().Draw(t, "closed"),
		final:  rapid.SampledFrom([]error{errLost, errRefused}).Draw(t, "what Close says of what is open"),
	}
})

// broker is the inner producer and the receipts of a scenario. It takes messages in in the order in which they come; a
// lost connection leaves the last of them behind.
type broker struct {
	mu       sync.Mutex
	scenario scenario
	receipts driver.Receipts

	of      map[uint32]int      // slot: number of its message
	free    chan uint32         // slots
	open    []driver.Message    // in flight
	dying   []driver.Message    // in flight on a connection that is lost, not reported yet
	waiting map[int]uint32      // reported as lost and not sent again yet: number to slot
	lost    map[uint32]struct{} // announced by Resent, not sent yet
	down    bool
	taken   []int // numbers, by first arrival
	fates   map[int][]error
	wanted  map[int]error
	last    time.Time // something was sent again
	alone   int       // the single message that went ahead, which nothing may follow before its outcome; -1: none
	wrong   string
}

func newBroker(s scenario) *broker {
	b := &broker{
		scenario: s, of: map[uint32]int{}, free: make(chan uint32, 5), waiting: map[int]uint32{}, lost: map[uint32]struct{}{},
		fates: map[int][]error{}, wanted: map[int]error{}, alone: -1,
	}
	for slot := range uint32(cap(b.free)) {
		b.free <- slot
	}
	return b
}

func (b *broker) fail(format string, args ...any) {
	if b.wrong == "" {
		b.wrong = fmt.Sprintf(format, args...)
	}
}

func message(slot uint32, n int) driver.Message {
	return driver.Message{Slot: slot, Topic: n % 3, Key: fmt.Appendf(nil, "key %d", n), Payload: fmt.Appendf(nil, "message %d", n)}
}

func (b *broker) Send(_ context.Context, batch []driver.Message) error {
	b.mu.Lock()
	numbers := make([]int, 0, len(batch))
	for _, m := range batch {
		n := b.of[m.Slot]
		numbers = append(numbers, n)
		if want := message(m.Slot, n); m.Topic != want.Topic || string(m.Key) != string(want.Key) || string(m.Payload) != string(want.Payload) {
			b.fail("message %d was sent as %d, %s, %s", n, m.Topic, m.Key, m.Payload)
		}
	}
	b.check(batch, numbers)
	if !b.down {
		b.open = append(b.open, batch...)
		b.mu.Unlock()
		return nil
	}
	b.mu.Unlock()
	b.lose(batch)
	return errLost
}

// check holds what is sent to the promises of the package.
func (b *broker) check(batch []driver.Message, numbers []int) {
	if !batch[0].Resent {
		if len(b.waiting) > 0 {
			b.fail("%v are sent before %v are sent again", numbers, slices.Sorted(maps.Keys(b.waiting)))
		}
		return
	}
	if first := slices.Sorted(maps.Keys(b.waiting)); !slices.Equal(numbers, first[:min(len(numbers), len(first))]) {
		b.fail("%v are sent again, want the first of %v", numbers, first)
	}
	if b.scenario.ordered && len(b.open)+len(b.dying) > 0 {
		b.fail("%v are sent again while messages are in flight", numbers)
	}
	if since := time.Since(b.last); b.alone < 0 && since < 50*time.Millisecond {
		b.fail("%v are sent again %v after the last attempt", numbers, since)
	}
	b.last = time.Now()
	if b.scenario.ordered && b.alone < 0 && len(numbers) > 1 {
		b.fail("%v are sent again together; one has to go ahead", numbers)
	}
	b.alone = numbers[0]
	for _, m := range batch {
		if _, announced := b.lost[m.Slot]; !announced || !m.Resent {
			b.fail("message %d is sent again: counted %v, marked %v", b.of[m.Slot], announced, m.Resent)
		}
		delete(b.lost, m.Slot)
		delete(b.waiting, b.of[m.Slot])
	}
}

func (b *broker) Flush(context.Context) error { return nil }

func (b *broker) Close() error {
	b.mu.Lock()
	open := append(b.dying, b.open...)
	for _, m := range open {
		b.wanted[b.of[m.Slot]] = b.scenario.final
	}
	b.open, b.dying = nil, nil
	b.mu.Unlock()
	if len(open) > 0 {
		b.receipts.Done(slots(open), b.scenario.final)
	}
	return errRefused
}

func slots(batch []driver.Message) (out []uint32) {
	for _, m := range batch {
		out = append(out, m.Slot)
	}
	return out
}

// lose reports messages as left without an outcome by a lost connection.
func (b *broker) lose(batch []driver.Message) {
	if len(batch) == 0 {
		return
	}
	b.mu.Lock()
	for _, m := range batch {
		b.waiting[b.of[m.Slot]] = m.Slot
		b.wanted[b.of[m.Slot]] = errLost // if it stays so
	}
	b.alone = -1
	b.mu.Unlock()
	b.receipts.Done(slots(batch), errLost)
}

// settle gives the first n in flight their outcome.
func (b *broker) settle(n int, err error) {
	b.mu.Lock()
	done := slices.Clone(b.open[:min(n, len(b.open))])
	b.open = b.open[len(done):]
	for _, m := range done {
		b.wanted[b.of[m.Slot]] = err
		if err == nil {
			b.take(m)
		}
	}
	b.mu.Unlock()
	if len(done) > 0 {
		b.receipts.Done(slots(done), err)
	}
}

func (b *broker) take(m driver.Message) {
	if n := b.of[m.Slot]; !slices.Contains(b.taken, n) {
		b.taken = append(b.taken, n)
	}
}

// cut loses the connection after the first n in flight were taken in, and reports one of them.
func (b *broker) cut(n int) {
	b.mu.Lock()
	for _, m := range b.open[:min(n, len(b.open))] {
		b.take(m)
	}
	b.dying, b.open = append(b.dying, b.open...), nil
	b.mu.Unlock()
	b.report(1)
}

// report tells of messages on a lost connection, the last ones first.
func (b *broker) report(n int) {
	b.mu.Lock()
	n = min(n, len(b.dying))
	gone := slices.Clone(b.dying[len(b.dying)-n:])
	b.dying = b.dying[:len(b.dying)-n]
	b.mu.Unlock()
	slices.Reverse(gone)
	b.lose(gone)
}

func (b *broker) Done(done []uint32, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(done) == 0 {
		b.fail("the outcome of nothing was reported")
	}
	for _, slot := range done {
		b.fates[b.of[slot]] = append(b.fates[b.of[slot]], err)
		b.free <- slot
	}
}

func (b *broker) Resent(again []uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, slot := range again {
		b.lost[slot] = struct{}{}
	}
}

// batches sends each of sizes as one batch and gives the numbers away as it does.
func (b *broker) batches(ctx context.Context, p driver.Producer, sizes <-chan int) {
	next := 0
	for size := range sizes {
		var batch []driver.Message
		for range size {
			select {
			case slot := <-b.free:
				b.mu.Lock()
				b.of[slot] = next
				b.mu.Unlock()
				batch = append(batch, message(slot, next))
				next++
			case <-ctx.Done():
			}
		}
		if len(batch) == 0 {
			continue
		}
		if err := p.Send(ctx, batch); err != nil {
			b.mu.Lock()
			for _, m := range batch {
				b.wanted[b.of[m.Slot]] = err
			}
			b.mu.Unlock()
		}
	}
}

// run plays the scenario and says what went wrong, "" if nothing did.
func (s scenario) run() string {
	b := newBroker(s)
	g := driver.Guarantee{Delivery: driver.AtLeastOnce, Ordering: driver.Unordered}
	if s.ordered {
		g.Ordering = driver.Ordered
	}
	p, err := resend.Producer(g, driver.ProducerConfig{InFlight: cap(b.free)}, b, func(r driver.Receipts) (driver.Producer, error) {
		b.receipts = r
		return b, nil
	})
	if err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithCancel(context.Background())
	sizes, sender := make(chan int, len(s.steps)), sync.WaitGroup{}
	sender.Go(func() { b.batches(ctx, p, sizes) })
	for _, step := range s.steps {
		b.do(step, sizes)
		synctest.Wait()
	}
	close(sizes)
	if s.closed {
		cancel()
		sender.Wait()
	} else {
		for range 60 {
			b.report(9)
			b.do(step{"up", 0}, nil)
			time.Sleep(60 * time.Millisecond)
			b.settle(9, nil)
			synctest.Wait()
		}
		sender.Wait()
	}
	if err := p.Close(); !errors.Is(err, errRefused) {
		b.fail("Close says %v, the inner producer said %v", err, errRefused)
	}
	cancel()
	return b.verdict()
}

func (b *broker) do(s step, sizes chan<- int) {
	switch s.do {
	case "send":
		sizes <- s.n
	case "ack":
		b.settle(s.n, nil)
	case "refuse":
		b.settle(s.n, errRefused)
	case "cut":
		b.cut(s.n)
	case "report":
		b.report(s.n)
	case "down":
		b.mu.Lock()
		b.down = true
		b.mu.Unlock()
		b.cut(s.n)
	case "up":
		b.mu.Lock()
		b.down = false
		b.mu.Unlock()
	case "wait":
		time.Sleep(time.Duration(s.n) * 20 * time.Millisecond)
	case "wait long":
		time.Sleep(200 * time.Millisecond)
	}
}

func (b *broker) verdict() string {
	for n, want := range b.wanted {
		if got := b.fates[n]; len(got) != 1 || !errors.Is(got[0], cmp.Or(want, got[0])) || (got[0] == nil) != (want == nil) {
			b.fail("message %d was completed with %v, want once with %v", n, got, want)
		}
	}
	if len(b.fates) != len(b.wanted) {
		b.fail("%d messages have an outcome, want %d", len(b.fates), len(b.wanted))
	}
	if b.scenario.ordered && !slices.IsSorted(b.taken) {
		b.fail("the broker took in %v", b.taken)
	}
	return b.wrong
}

func TestEveryMessageHasOneOutcomeAndItsPlaceWhateverHappens(t *testing.T) {
	testkit.Check(t, func(r *rapid.T) {
		s := scenarios.Draw(r, "scenario")
		wrong := ""
		synctest.Test(t, func(*testing.T) { wrong = s.run() })
		if wrong != "" {
			r.Fatal(wrong)
		}
	})
}
