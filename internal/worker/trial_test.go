package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

func TestConsumersThatEndByThemselvesEndTheTrial(t *testing.T) {
	gone := errors.New("connection reset by peer")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"with an error": {gone, "connection reset by peer"},
		"without one":   {nil, "ended by itself"},
	} {
		for _, subscriptions := range []int{1, 20} { // a broker that dies ends all of them at once
			t.Run(fmt.Sprintf("%s, %d", name, subscriptions), func(t *testing.T) {
				end := make(chan struct{})
				endAll := sync.OnceFunc(func() { close(end) })
				d := &script{
					send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
						p.deliver(batch)
						p.done(batch, nil)
						if !probing(batch) {
							endAll()
						}
						return nil
					},
					consume: func(ctx context.Context, _ driver.ConsumerConfig) error {
						select {
						case <-end:
							return c.err
						case <-ctx.Done():
							return nil
						}
					},
				}
				w := ready(t, d, simple(2, subscriptions))
				began := time.Now()
				out := w.Run(t.Context(), Load{Schedule: constant(t, 1000), Duration: time.Minute, Drain: time.Minute})
				if out.Err == nil || !strings.Contains(out.Err.Error(), "of subscription ") || !strings.Contains(out.Err.Error(), c.want) {
					t.Errorf("the trial ended with %v, want %q", out.Err, c.want)
				}
				if out.Measured.Sent == 0 || !out.Measured.Balanced() || time.Since(began) > 30*time.Second {
					t.Errorf("after %v: %+v", time.Since(began), out.Measured)
				}
				if again := w.Run(t.Context(), Load{Messages: 10, Drain: time.Minute}); again.Err == nil {
					t.Error("a worker without consumers ran another trial")
				}
			})
		}
	}
}

func TestACancelledTrialEndsSoonWithWhatItHas(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, load := range map[string]Load{
		"warming up":  {Schedule: constant(t, 2000), Warmup: Warmup{Auto: true, For: time.Hour, Max: time.Hour}, Duration: time.Hour},
		"fixed time":  {Schedule: constant(t, 2000), Warmup: Warmup{For: time.Hour}, Duration: time.Hour},
		"own warm-up": {Schedule: constant(t, 2000), Before: constant(t, 1000), Warmup: Warmup{For: time.Hour}, Duration: time.Hour},
		"open loop":   {Schedule: constant(t, 2000), Duration: time.Hour},
		"one in ages": {Schedule: constant(t, 0.001), Duration: time.Hour},
		"closed loop": {Duration: time.Hour},
		"counting":    {Schedule: constant(t, 2000), Messages: 1e9},
		"draining":    {Messages: 100},
	} {
		t.Run(name, func(t *testing.T) {
			load.Drain = time.Hour
			ctx, cancel := context.WithCancel(t.Context())
			d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
				if name != "draining" || probing(batch) {
					p.deliver(batch)
				}
				if !probing(batch) {
					time.AfterFunc(100*time.Millisecond, cancel)
				}
				p.done(batch, nil)
				return nil
			}}
			w, err := Prepare(t.Context(), d, simple(3, 2))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			out := w.Run(ctx, load)
			if !errors.Is(out.Err, context.Canceled) || time.Since(began) > 30*time.Second {
				t.Errorf("ended with %v after %v", out.Err, time.Since(began))
			}
			sent := out.Warmup
			sent.Add(out.Measured)
			if sent.Sent == 0 || !out.Warmup.Balanced() || !out.Measured.Balanced() || len(out.Samples) == 0 {
				t.Errorf("%d samples, %+v, %+v", len(out.Samples), out.Warmup, out.Measured)
			}
			if out.From > clock.Now() || out.Until < out.From {
				t.Errorf("measured from %d until %d", out.From, out.Until)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatIsUnresolvedIsCountedAndALateReceiptChangesNothing(t *testing.T) {
	d := &script{}
	var mu sync.Mutex
	var open []driver.Message
	var receipts driver.Receipts
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		receipts = p.receipts
		for i, m := range batch {
			if headerOf(m).ID.Seq()%10 == 3 && p.sent+i < 1000 { // neither delivered nor resolved
				open = append(open, m)
				continue
			}
			p.deliver(batch[i : i+1])
			p.done(batch[i:i+1], nil)
		}
		return nil
	}
	plan := simple(1, 1)
	plan.InFlight = 200
	w := ready(t, d, plan)
	first := w.Run(t.Context(), Load{Messages: 1000, Drain: 50 * time.Millisecond})
	mu.Lock()
	left, back := int64(len(open)), receipts
	mu.Unlock()
	m := first.Measured
	if m.Sent != 1000 || left != 100 || m.Unresolved != left || m.Acked != 1000-left || !m.Balanced() || first.Drained {
		t.Fatalf("%+v; %d slots were not completed", m, left)
	}
	if m.Lost != left || m.LostAcked != 0 {
		t.Errorf("%d lost, %d of them confirmed; want %d and none", m.Lost, m.LostAcked, left)
	}
	// They are completed, some as confirmed and some as failed, while the next trial runs.
	var late sync.WaitGroup
	late.Go(func() {
		for i, m := range open {
			var err error
			if i%2 == 0 {
				err = errors.New("late")
			}
			back.Done([]uint32{m.Slot}, err)
			time.Sleep(100 * time.Microsecond)
		}
	})
	second := w.Run(t.Context(), Load{Messages: 5000, Drain: 10 * time.Second})
	late.Wait()
	if m := second.Measured; m.Sent != 5000 || m.Acked != 5000 || m.Received != 5000 || m.Failed+m.Unresolved != 0 || !second.Drained {
		t.Errorf("the next trial: %+v, %v", m, second.Err)
	}
	if second.SendErr != nil {
		t.Errorf("the next trial is told why messages of the first one failed: %v", second.SendErr)
	}
	if first.Measured != m {
		t.Errorf("the first trial's books became %+v", first.Measured)
	}
}

func TestALossyDrainEndsWhenNothingComesAnyMore(t *testing.T) {
	for _, lossy := range []bool{true, false} {
		t.Run(fmt.Sprintf("lossy %v", lossy), func(t *testing.T) {
			t.Parallel()
			d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
				if probing(batch) {
					p.deliver(batch)
				}
				p.done(batch, nil)
				return nil
			}}
			drain := lossyQuiet + 500*time.Millisecond
			if lossy {
				drain = time.Minute
			}
			began := time.Now()
			out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{Messages: 100, Drain: drain, Lossy: lossy})
			took := time.Since(began)
			if out.Drained || out.Measured.Lost != 100 || out.Measured.LostAcked != 100 || out.Err != nil {
				t.Errorf("drained %v, %+v, %v", out.Drained, out.Measured, out.Err)
			}
			if lossy && took > 30*time.Second || took < lossyQuiet || !lossy && took < drain {
				t.Errorf("the drain took %v", took)
			}
		})
	}
}

// A broker that stands still for longer than half of the drain has lost nothing, also for the trials of a search.
func TestABriskDrainWaitsForWhatComesAfterASilence(t *testing.T) {
	t.Parallel()
	d := &script{}
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
		} else {
			late := slices.Clone(batch)
			for i := range late {
				late[i].Payload = bytes.Clone(late[i].Payload)
			}
			d.pending.Go(func() {
				time.Sleep(2500 * time.Millisecond)
				p.deliver(late)
			})
		}
		p.done(batch, nil)
		return nil
	}
	out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{Messages: 100, Drain: 4 * time.Second, Settle: 8 * time.Second, Brisk: true})
	d.pending.Wait()
	if !out.Drained || out.Measured.Lost != 0 || out.Err != nil {
		t.Errorf("drained %v, %+v, %v", out.Drained, out.Measured, out.Err)
	}
}

func TestFailedMessagesThatArriveDoNotCutTheDrainShort(t *testing.T) {
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		for i, m := range batch {
			if one := batch[i : i+1]; headerOf(m).ID.Seq()%2 == 0 { // stored, but the confirmation was lost
				p.deliver(one)
				p.done(one, errors.New("timed out"))
			} else { // confirmed, and under way for a while
				m.Payload = append([]byte(nil), m.Payload...)
				p.later([]driver.Message{m}, func(one []driver.Message) {
					time.Sleep(200 * time.Millisecond)
					p.deliver(one)
				})
				p.done(one, nil)
			}
		}
		return nil
	}}
	out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{Messages: 200, Drain: 20 * time.Second})
	if m := out.Measured; m.Failed != 100 || m.Lost != 0 || m.Received != 200 || !out.Drained {
		t.Errorf("drained %v: %+v", out.Drained, m)
	}
}

func TestACountIsSharedOutExactly(t *testing.T) {
	for _, c := range []struct {
		producers int
		messages  int64
	}{{1, 1}, {3, 1000}, {7, 7}, {7, 6}, {16, 12_345}} {
		for name, load := range map[string]Load{"closed": {}, "open": {Schedule: constant(t, 1e6)}} {
			load.Messages, load.Drain, load.Streams = c.messages, 10*time.Second, true
			out := ready(t, &script{}, simple(c.producers, 1)).Run(t.Context(), load)
			if out.Measured.Sent != c.messages || out.Err != nil {
				t.Errorf("%s: %d of %d sent: %v", name, out.Measured.Sent, c.messages, out.Err)
			}
			for _, s := range out.Streams {
				want := c.messages / int64(c.producers)
				if int64(s.Producer) < c.messages%int64(c.producers) {
					want++
				}
				// A producer with nothing to send would run without a limit if its share of 0 meant "none".
				if s.Books.Sent != want {
					t.Errorf("%s: producer %d of %d sent %d of %d, want %d", name, s.Producer, c.producers, s.Books.Sent, c.messages, want)
				}
			}
		}
	}
}

func TestAHungClientCannotHoldATrial(t *testing.T) {
	hang := func(p *scriptProducer, ctx context.Context, batch []driver.Message) error {
		if p.sent < 50 {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		<-ctx.Done()
		p.done(batch, ctx.Err())
		return ctx.Err()
	}
	cut := func(p *scriptProducer, ctx context.Context, batch []driver.Message) error {
		err := hang(p, ctx, nil)
		if err != nil { // as a driver that cuts the connection under a blocked write
			p.done(batch, errors.New("the connection was lost"))
		} else {
			p.done(batch, nil)
			p.deliver(batch)
		}
		return err
	}
	swallow := func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if p.sent < 50 {
			p.deliver(batch)
			p.done(batch, nil)
		}
		return nil
	}
	for name, c := range map[string]struct {
		send    func(p *scriptProducer, ctx context.Context, batch []driver.Message) error
		load    Load
		err     string
		sendErr error
	}{
		"Send never returns":               {hang, Load{Schedule: constant(t, 2000), Duration: 100 * time.Millisecond, Drain: 100 * time.Millisecond}, "", errHeld},
		"Send is cut off":                  {cut, Load{Schedule: constant(t, 2000), Duration: 100 * time.Millisecond, Drain: 100 * time.Millisecond}, "", errHeld},
		"Send never returns, counting":     {hang, Load{Messages: 1e6, Drain: 100 * time.Millisecond}, "the broker stopped answering", nil},
		"nothing is resolved":              {swallow, Load{Schedule: constant(t, 2000), Duration: 100 * time.Millisecond, Drain: 100 * time.Millisecond}, "", nil},
		"nothing is resolved, counting":    {swallow, Load{Messages: 1e6, Drain: 100 * time.Millisecond}, "then nothing for 100ms", nil},
		"nothing is resolved, closed loop": {swallow, Load{Duration: 100 * time.Millisecond, Drain: 100 * time.Millisecond}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := simple(2, 1)
			plan.InFlight = 60
			began := time.Now()
			out := ready(t, silent{&script{send: c.send}}, plan).Run(t.Context(), c.load)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
			if c.err == "" && out.Err != nil || c.err != "" && (out.Err == nil || !strings.Contains(out.Err.Error(), c.err)) {
				t.Errorf("ended with %v, want %q", out.Err, c.err)
			}
			if c.sendErr != nil && (!errors.Is(out.SendErr, c.sendErr) || !strings.HasSuffix(out.SendErr.Error(), "; it does so when its disk is full")) {
				t.Errorf("sends failed with %v, want %v", out.SendErr, c.sendErr)
			}
			if m := out.Measured; !m.Balanced() || m.Failed+m.Unresolved == 0 || m.Sent > 10_000 {
				t.Errorf("%+v", m)
			}
		})
	}
}

func TestBooksBalanceWhileDeliveriesGoOn(t *testing.T) {
	const messages = 200_000
	var all []driver.Message
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		if all = append(all, batch...); len(all) == messages { // in one piece, which takes longer than the drain
			p.later(all, p.deliver)
			all = nil
		}
		p.done(batch, nil) // there are slots enough to use each once
		return nil
	}}
	plan := simple(1, 1)
	plan.InFlight, plan.Bytes = messages, 100*messages
	w := ready(t, d, plan)
	for range 10 {
		out := w.Run(t.Context(), Load{Messages: messages, Drain: time.Microsecond})
		if !out.Measured.Balanced() {
			t.Fatalf("unbalanced: %+v", out.Measured)
		}
		d.pending.Wait()
	}
}

func TestPayloadsThatAreCutOrForeignAreNotReceived(t *testing.T) {
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		for i, m := range batch {
			m.Payload = append([]byte(nil), m.Payload...)
			switch headerOf(m).ID.Seq() % 10 {
			case 0:
				m.Payload = m.Payload[:20] // too short for its checksum
			case 1:
				m.Payload[50] ^= 1
			case 2:
				m.Payload = []byte("hello")
			}
			p.deliver([]driver.Message{m})
			p.done(batch[i:i+1], nil)
		}
		return nil
	}}
	out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{Messages: 1000, Drain: 50 * time.Millisecond})
	if m := out.Measured; m.Corrupted != 300 || m.Received != 700 || m.Lost != 300 || m.LostAcked != 300 {
		t.Errorf("%+v; want 300 corrupted and lost", m)
	}
}

func TestMessagesOfAnotherRunAreNobodys(t *testing.T) {
	var left []driver.Received
	keep := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		for _, m := range batch {
			left = append(left, driver.Received{Payload: append([]byte(nil), m.Payload...)})
		}
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}}
	plan := simple(1, 1)
	plan.Run = 76
	ready(t, keep, plan).Run(t.Context(), Load{Messages: 50, Drain: time.Second})
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		for _, s := range p.sinks {
			s.Deliver(left)
		}
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}}
	out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{Messages: 100, Drain: time.Second})
	if m := out.Measured; m.Received != 100 || m.Duplicated+m.Stale+m.Corrupted+m.Reordered != 0 {
		t.Errorf("%+v", m)
	}
}

func TestAMessageLeftFromTheLastTrialIsStale(t *testing.T) {
	var left []byte
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		for _, m := range batch {
			if h := headerOf(m); h.ID.Seq() == 10 {
				left = append([]byte(nil), m.Payload...)
			} else if h.ID.Seq() == 60 {
				p.sinks[0].Deliver([]driver.Received{{Payload: left}})
			}
		}
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}}
	w := ready(t, d, simple(1, 1))
	for i, want := range []measure.Books{{Stale: 0}, {Stale: 1}} {
		out := w.Run(t.Context(), Load{Messages: 50, Drain: time.Second})
		if m := out.Measured; m.Received != 50 || m.Duplicated != 0 || m.Stale != want.Stale {
			t.Errorf("trial %d: %+v", i, m)
		}
	}
}

// unendable are consumers that don't say what they received.
type unendable struct{ consumers }

var errUnendable = errors.New("no answer")

func (unendable) end(*trial) (consumerStats, error) { return consumerStats{}, errUnendable }

func TestATrialThatEndedEarlyAlsoSaysThatItsConsumersFailed(t *testing.T) {
	w := prepared(t, 1, 100)
	w.consumers = unendable{w.consumers}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{t.Context(), cancelled} {
		out := w.Run(ctx, Load{Messages: 1, Drain: 10 * time.Second})
		if !errors.Is(out.Err, errUnendable) || errors.Is(out.Err, context.Canceled) != (ctx == cancelled) {
			t.Errorf("cancelled %v: %v", ctx == cancelled, out.Err)
		}
	}
}
