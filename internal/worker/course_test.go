package worker

import (
	"context"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// full answers long after the trial has given up, so that nothing but the first window can be sent.
func full() *script {
	return &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		kept := append([]driver.Message(nil), batch...)
		time.AfterFunc(800*time.Millisecond, func() { p.done(kept, nil) })
		return nil
	}}
}

func TestWhatWasDueAndNeverSentStandsInTheBooksAndInThePercentiles(t *testing.T) {
	const rate, window, producers, drain = 1000, 10, 2, 200 * time.Millisecond
	const warmup, length = 100 * time.Millisecond, 300 * time.Millisecond
	plan := simple(producers, 2)
	plan.InFlight = window
	out := ready(t, full(), plan).Run(t.Context(), Load{
		Schedule: constant(t, rate), Warmup: Warmup{For: warmup}, Duration: length, Drain: drain, Settle: 2 * time.Second,
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	w, m := out.Warmup, out.Measured
	if w.Due != 100 || w.Sent != producers*window || w.Unsent != 100-producers*window || !w.Balanced() {
		t.Errorf("warm-up: %+v", w)
	}
	if m.Due != 300 || m.Sent != 0 || m.Unsent != 300 || !m.Balanced() {
		t.Errorf("measured: %+v", m)
	}
	h := out.Histograms
	if h.Publish.Count() != 300 || h.Lag.Count() != 300 || h.EndToEnd.Count() != 600 || h.Service.Count() != 0 {
		t.Errorf("%d, %d, %d, %d latencies", h.Publish.Count(), h.Lag.Count(), h.EndToEnd.Count(), h.Service.Count())
	}
	// Each waited to the end of sending, the drain allowance after the last was due.
	for q, least := range map[float64]time.Duration{0: drain, 0.5: drain + length/2, 1: drain + length} {
		if got := time.Duration(h.EndToEnd.Quantile(q)); got < least*98/100-5*time.Millisecond || got > least+250*time.Millisecond {
			t.Errorf("quantile %g: %v, want %v or a little more", q, got, least)
		}
	}
	if own := time.Duration(h.GeneratorLag.Quantile(0.9)); own > drain/2 {
		t.Errorf("the client's window was full, and the generator answers for %v", own)
	}
}

func TestMessagesThatAreNotDueYetHaveNoLatency(t *testing.T) {
	const rate, messages, window = 1000, 1_000_000, 10
	plan := simple(1, 1)
	plan.InFlight = window
	out := ready(t, full(), plan).Run(t.Context(), Load{
		Schedule: constant(t, rate), Messages: messages, Drain: 100 * time.Millisecond, Settle: 2 * time.Second,
	})
	if m := out.Measured; out.Err == nil || m.Unsent != messages-window || !m.Balanced() {
		t.Errorf("%+v, %v", m, out.Err)
	}
	// The first message that wasn't sent waited longest. As many became due meanwhile as the rate says; a histogram reads 1 % high at most.
	waited := float64(out.Histograms.Lag.Max()) / 1e9
	if n := out.Histograms.Lag.Count(); n <= window || float64(n) > window+1+rate*waited || float64(n) < window+0.99*rate*waited-1 {
		t.Errorf("%d messages have a lag; the longest is %g s, at %d/s", n, waited, rate)
	}
}

func TestOfManyUnsentMessagesEveryOneIsCounted(t *testing.T) {
	const rate = 40_000_000 // of which a window goes out
	plan := simple(3, 1)
	plan.InFlight = 5
	var ended int64
	out := ready(t, full(), plan).Run(t.Context(), Load{
		Schedule: constant(t, rate), Duration: 50 * time.Millisecond, Drain: 50 * time.Millisecond, Settle: 2 * time.Second,
		Hooks: Hooks{Sent: func() { ended = clock.Now() }},
	})
	m := out.Measured
	if m.Due != rate/20 || m.Unsent != m.Due-15 || !m.Balanced() {
		t.Errorf("%+v", m)
	}
	// The one in the middle was due after 25 ms; when sending ends a busy machine decides, too.
	late := ended - out.Start - int64(100*time.Millisecond)
	if got, want := out.Histograms.Lag.Quantile(0.5), int64(75*time.Millisecond); got < want || got > want*2+late {
		t.Errorf("half of them waited for up to %v, want %v; sending ended %v late", time.Duration(got), time.Duration(want), time.Duration(late))
	}
}

func TestAShapeBeginsWithTheMeasuredPhase(t *testing.T) {
	const producers, warmup, length = 2, 100 * time.Millisecond, 400 * time.Millisecond
	ramp, err := schedule.Steps([]schedule.Step{{To: 2000, For: length}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, auto := range map[string]bool{"after a fixed warm-up": false, "after an automatic one": true} {
		t.Run(name, func(t *testing.T) {
			intended := make([][]int64, producers)
			d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
				for _, m := range batch {
					if h := headerOf(m); h.ID.Seq()&probeBit == 0 {
						intended[p.config.ID] = append(intended[p.config.ID], h.Intended)
					}
				}
				p.deliver(batch)
				p.done(batch, nil)
				return nil
			}}
			out := ready(t, d, simple(producers, 1)).Run(t.Context(), Load{
				Start: clock.Now(), Before: constant(t, 1000), Schedule: ramp,
				Warmup: Warmup{Auto: auto, For: warmup, Max: 5 * warmup}, Duration: length, Drain: 10 * time.Second,
			})
			if out.Err != nil || out.Measured.Sent != 400 || out.Measured.Due != 400 || !out.Measured.Balanced() || !out.Warmup.Balanced() {
				t.Fatalf("%+v after %+v, %v: want 400 messages", out.Measured, out.Warmup, out.Err)
			}
			if want := int64(1000 * float64(out.From-out.Start) / 1e9); out.Warmup.Due < want || out.Warmup.Due > want+1 {
				t.Errorf("%d messages were due in a warm-up of %v at 1,000/s", out.Warmup.Due, time.Duration(out.From-out.Start))
			}
			for k, times := range intended {
				i := 0
				for _, at := range times {
					if at < out.From {
						continue
					}
					if due := out.From + ramp.At(int64(k+i*producers)); at != due {
						t.Fatalf("producer %d, message %d of the ramp: intended %d ns off", k, i, at-due)
					}
					i++
				}
			}
			for _, s := range out.Samples {
				if s.Phase == measure.Measured && s.Due < out.Warmup.Due {
					t.Fatalf("due fell from %d to %d when the ramp began", out.Warmup.Due, s.Due)
				}
			}
		})
	}
}

func TestAShapeThatEndsAtRateZeroEndsWithThePhase(t *testing.T) {
	steps, err := schedule.Steps([]schedule.Step{{Rate: 1000, To: 1000, For: 100 * time.Millisecond}, {For: time.Millisecond}}, false)
	if err != nil {
		t.Fatal(err)
	}
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}}
	for _, producers := range []int{1, 3} {
		began := time.Now()
		const length, drain = 200 * time.Millisecond, 10 * time.Second
		out := ready(t, d, simple(producers, 1)).Run(t.Context(), Load{Schedule: steps, Duration: length, Drain: drain})
		if out.Err != nil || out.Measured.Due != 100 || out.Measured.Sent != 100 || !out.Measured.Balanced() {
			t.Errorf("%d producers: %+v, %v: want 100 messages", producers, out.Measured, out.Err)
		}
		if took := time.Since(began); took > length+drain/2 {
			t.Errorf("%d producers: took %v, want at most %v", producers, took, length)
		}
	}
}
