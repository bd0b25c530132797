package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/wire"
)

func headerOf(m driver.Message) (h wire.Header) {
	if values := m.Headers.Values(); len(values) > 0 {
		h.ReadText(values[0], m.Payload)
	} else {
		h.Read(wire.Split(m.Payload))
	}
	return h
}

func constant(t *testing.T, rate float64) schedule.Schedule {
	t.Helper()
	s, err := schedule.Constant(rate)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryArrivalKeepsItsIntendedTimeToTheNanosecond(t *testing.T) {
	poisson, err := schedule.Poisson(7000, 3)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := schedule.Steps([]schedule.Step{{Rate: 3000, To: 3000, For: 70 * time.Millisecond}, {For: 33 * time.Millisecond}, {Rate: 9001, To: 9001, For: time.Second}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]schedule.Schedule{"constant": constant(t, 6789.123), "poisson": poisson, "steps": steps} {
		t.Run(name, func(t *testing.T) {
			const producers = 3
			intended := make([][]int64, producers) // each written by its own producer
			d := &script{}
			d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
				for _, m := range batch {
					if h := headerOf(m); h.ID.Seq()&probeBit == 0 {
						intended[p.config.ID] = append(intended[p.config.ID], h.Intended)
						if h.Sent < h.Intended {
							t.Errorf("sent %d ns before its time", h.Intended-h.Sent)
						}
					}
				}
				p.deliver(batch)
				p.done(batch, nil)
				return nil
			}
			w := ready(t, d, simple(producers, 1))
			start := clock.Now() + int64(5*time.Millisecond)
			const warmup, length = 50 * time.Millisecond, 250 * time.Millisecond
			out := w.Run(t.Context(), Load{Start: start, Schedule: s, Warmup: Warmup{For: warmup}, Duration: length, Drain: 20 * time.Second})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			deal := schedule.Deal{Clients: producers, Producers: producers}
			var total, warm int64
			for k, times := range intended {
				share := schedule.Sequential(deal.Share(s, k))
				warm += share.Count(int64(warmup))
				want := share.Count(int64(warmup + length))
				if total += want; int64(len(times)) != want {
					t.Errorf("producer %d sent %d messages, its share is %d", k, len(times), want)
				}
				for i, at := range times {
					if due := start + share.At(int64(i)); at != due {
						t.Fatalf("producer %d, message %d: intended %d ns off the schedule", k, i, at-due)
					}
				}
			}
			if out.Warmup.Due != warm || out.Measured.Due != total-warm {
				t.Errorf("%d in warm-up and %d measured were due, want %d and %d", out.Warmup.Due, out.Measured.Due, warm, total-warm)
			}
			if out.Warmup.Sent != warm || out.Measured.Sent != total-warm {
				t.Errorf("%d in warm-up and %d measured, want %d and %d", out.Warmup.Sent, out.Measured.Sent, warm, total-warm)
			}
			if got := out.Histograms.EndToEnd.Count(); got != total-warm {
				t.Errorf("%d latencies, want %d", got, total-warm)
			}
		})
	}
}

func TestBackPressureDelaysMessagesAndIsNotHeldAgainstTheGenerator(t *testing.T) {
	const rate, window = 1000, 10
	d := &script{}
	var mu sync.Mutex
	var stalled, resumed int64
	var held []func()
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		mu.Lock()
		defer mu.Unlock()
		if p.sent > 100 && stalled == 0 {
			stalled = clock.Now()
			time.AfterFunc(300*time.Millisecond, func() {
				mu.Lock()
				defer mu.Unlock()
				resumed = clock.Now()
				for _, f := range held {
					f()
				}
			})
		}
		kept := append([]driver.Message(nil), batch...)
		finish := func() { p.deliver(kept); p.done(kept, nil) }
		if stalled != 0 && resumed == 0 {
			held = append(held, finish)
		} else {
			finish()
		}
		return nil
	}
	plan := simple(1, 1)
	plan.InFlight = window
	out := ready(t, d, plan).Run(t.Context(), Load{Schedule: constant(t, rate), Duration: time.Second, Drain: 20 * time.Second})
	if out.Err != nil || out.Measured.Sent != rate || out.Measured.Received != rate {
		t.Fatalf("%+v, %v: every message must be sent, however late", out.Measured, out.Err)
	}
	// The window fills within 10 ms; the next message waits for the rest of the stall.
	stall := resumed - stalled
	least := stall - int64((window+1)*time.Second/rate)
	if got := out.Histograms.Lag.Max(); got < least {
		t.Errorf("lag up to %v during a stall of %v", time.Duration(got), time.Duration(stall))
	}
	if got := out.Histograms.EndToEnd.Max(); got < stall {
		t.Errorf("end to end up to %v during a stall of %v", time.Duration(got), time.Duration(stall))
	}
	if waited := out.Histograms.Lag.CountAbove(stall / 2); waited < rate*300/1000/2-window-2 {
		t.Errorf("only %d messages waited for more than half of the stall", waited)
	}
	if out.Blocked < time.Duration(least) {
		t.Errorf("blocked for %v during a stall of %v", out.Blocked, time.Duration(stall))
	}
	if got := out.Histograms.GeneratorLag.Quantile(0.9); got > stall/3 {
		t.Errorf("the generator is blamed for %v", time.Duration(got))
	}
}

func TestSendErrorsAreBookedAndTheTrialGoesOn(t *testing.T) {
	broke := errors.New("no leader for partition")
	for name, load := range map[string]Load{
		"open loop":   {Schedule: constant(t, 20_000), Messages: 4000, Drain: 5 * time.Second},
		"closed loop": {Messages: 4000, Drain: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			d := &script{}
			calls, refused := 0, 0
			d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
				if calls++; !probing(batch) && calls%5 == 0 {
					refused += len(batch)
					p.done(batch, broke)
					return broke
				}
				p.deliver(batch)
				p.done(batch, nil)
				return nil
			}
			out := ready(t, d, simple(1, 1)).Run(t.Context(), load)
			m := out.Measured
			if out.Err != nil || !errors.Is(out.SendErr, broke) {
				t.Errorf("the trial ended with %v, sends failed with %v", out.Err, out.SendErr)
			}
			if refused == 0 || m.Failed != int64(refused) || m.Sent != 4000 || m.Acked != int64(4000-refused) || m.Lost != m.Failed || m.LostAcked != 0 {
				t.Errorf("%+v; %d were refused", m, refused)
			}
			if !out.Drained {
				t.Error("a drain doesn't wait for what has failed")
			}
		})
	}
}

// A search guesses the limit by the time inside the client, which our own pause must not lengthen.
func TestThePauseAfterAFailedSendIsNoSending(t *testing.T) {
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		p.done(batch, errors.New("no leader"))
		return errors.New("no leader")
	}}
	w := ready(t, d, simple(1, 1))
	tr := w.begin(Load{Messages: 1}, 1)
	defer tr.recording.watch.Close()
	p := w.clients[0]
	segment := &segment{share: schedule.Sequential(constant(t, 1e6)), start: tr.startedAt, until: tr.recording.measuredUntil.Load, limit: 1}
	segment.turns = w.plan.deal().Turns(constant(t, 1e6), 0)
	p.freeSlots.take(p.batchSlots[:1])
	p.fillBatch(tr, segment, 1)
	held := p.send(t.Context(), tr, 1)
	if sending := p.activity.Load().sending; held.ns()-sending < int64(sendBackoff) {
		t.Errorf("of %d ns %d are called sending, the pause was %d ns", held.ns(), sending, int64(sendBackoff))
	}
}

func TestTheLatestConfirmationIsTheOneWithTheLatestTime(t *testing.T) {
	var a activity
	for _, at := range []int64{5, 9, 7} {
		a.noteAck(at)
	}
	if at := a.lastAck.Load(); at != 9 {
		t.Error(at)
	}
}

func TestTheFirstFailureIsTheOneThatIsKept(t *testing.T) {
	first, later := errors.New("queue full"), errors.New("producer closed")
	d := &script{}
	refused := false
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		switch {
		case probing(batch):
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		case !refused: // by the broker's answer
			refused = true
			p.done(batch, first)
			return nil
		}
		p.done(batch, later)
		return later
	}
	plan := simple(1, 1)
	plan.InFlight = 10 // several batches
	out := ready(t, d, plan).Run(t.Context(), Load{Messages: 100, Drain: 5 * time.Second})
	if out.Measured.Failed != 100 || !errors.Is(out.SendErr, first) {
		t.Errorf("%d messages failed with %v, want 100 and the first reason, %v", out.Measured.Failed, out.SendErr, first)
	}
}

func TestTheWindowLimitsWhatIsInFlight(t *testing.T) {
	const window = 37
	for name, load := range map[string]Load{
		"of the plan": {Messages: 5000, Drain: 5 * time.Second},
		"of the load": {Messages: 5000, Window: window, Drain: 5 * time.Second},
	} {
		d := &script{}
		var flying, most atomic.Int64
		d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
			now := flying.Add(int64(len(batch)))
			most.Store(max(most.Load(), now)) // by the one producer only
			p.later(batch, func(batch []driver.Message) {
				p.deliver(batch)
				flying.Add(-int64(len(batch)))
				p.done(batch, nil)
			})
			return nil
		}
		plan := simple(1, 1)
		limit := int64(window)
		if load.Window == 0 {
			plan.InFlight, limit = 500, 500
		}
		w := ready(t, d, plan)
		for range 2 { // a window that was lent to a trial is given back
			out := w.Run(t.Context(), load)
			if out.Measured.Sent != 5000 || out.Measured.Received != 5000 || out.Err != nil {
				t.Errorf("%s: %+v, %v", name, out.Measured, out.Err)
			}
			if most.Load() > limit {
				t.Errorf("%s: %d in flight, allowed %d", name, most.Load(), limit)
			}
		}
		if free := w.clients[0].freeSlots.take(make([]uint32, 1000)); free != len(w.clients[0].slots) {
			t.Errorf("%s: %d of %d slots are free in the end", name, free, len(w.clients[0].slots))
		}
	}
}

func TestTheWindowIsInMessagesAndInBytesAndNeverLessThanOneMessage(t *testing.T) {
	for _, c := range []struct{ messages, bytes, size, want int }{
		{1000, 55_000, 10_000, 5}, {3, 55_000, 10_000, 3}, {1, 1 << 20, 100, 1}, {1000, 10_000, 10_000, 1}, {1000, 9999, 10_000, 1},
	} {
		plan := simple(1, 0)
		plan.Payload.Sizes = []Size{{c.size, 1}}
		plan.InFlight, plan.Bytes = c.messages, c.bytes
		w := ready(t, &script{}, plan)
		if n := len(w.clients[0].slots); n != c.want {
			t.Errorf("%d slots of %d bytes, want %d in %d messages and %d bytes", n, c.size, c.want, c.messages, c.bytes)
		}
	}
}

// At 5,000/s, messages 200 µs apart would wait 100 µs for a wake-up 200 µs after the last one: as long as some brokers take.
func TestWakeUpsAreAsFarApartAsATenthOfTheLatencyAllows(t *testing.T) {
	var c coalescing
	for _, step := range []struct {
		seen Quantiles
		want time.Duration
	}{
		{Quantiles{}, 200 * time.Microsecond}, // nothing is known yet
		{Quantiles{Count: 1, P50: 3e6}, 200 * time.Microsecond},
		{Quantiles{Count: 1, P50: 2e6}, 200 * time.Microsecond},
		{Quantiles{Count: 1, P50: 1e6}, 100 * time.Microsecond},
		{Quantiles{Count: 1, P50: 1e5}, 50 * time.Microsecond}, // no thread wakes more precisely
		{Quantiles{}, 50 * time.Microsecond},                   // nothing came in this half second
	} {
		c.follow(step.seen)
		if got := c.gap(); got != step.want {
			t.Errorf("after %+v: %v, want %v", step.seen, got, step.want)
		}
	}
}

func TestALoadWithShortLatenciesIsCoalescedLessAlsoInTheNextTrial(t *testing.T) {
	d := &script{}
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}
	w := ready(t, d, simple(1, 1))
	out := w.Run(t.Context(), Load{Schedule: constant(t, 2000), Duration: 1200 * time.Millisecond, Drain: time.Second})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if p50 := out.Histograms.EndToEnd.Quantile(0.5); p50 < int64(time.Millisecond) && w.coalescing.gap() > 100*time.Microsecond {
		t.Errorf("wake-ups are %s apart although the median latency is %s", w.coalescing.gap(), time.Duration(p50))
	}
}
