package worker

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

// standStill stops this process for d, as Ctrl-Z, a debugger or a frozen virtual machine would.
func standStill(t *testing.T, d time.Duration) {
	t.Helper()
	script := "kill -STOP $1; sleep $2; kill -CONT $1"
	c := exec.Command("sh", "-c", script, "sh", strconv.Itoa(os.Getpid()), strconv.FormatFloat(d.Seconds(), 'f', 3, 64))
	if err := c.Run(); err != nil {
		t.Error(err)
	}
}

func TestAPauseIsTheGeneratorsOwnUntilItHasCaughtUp(t *testing.T) {
	testkit.NotShort(t)
	const rate, pause = 1000, 500 * time.Millisecond
	for name, busy := range map[string]time.Duration{"an idle client": 0, "a client that takes half of the time": 500 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
				for until := clock.Now() + int64(busy)*int64(len(batch)); clock.Now() < until; {
				}
				p.deliver(batch)
				p.done(batch, nil)
				return nil
			}}
			w := ready(t, d, simple(1, 1))
			time.AfterFunc(700*time.Millisecond, func() { standStill(t, pause) })
			out := w.Run(t.Context(), Load{Schedule: constant(t, rate), Duration: 3 * time.Second, Drain: 5 * time.Second})
			if out.Err != nil || out.Measured.Sent != 3*rate {
				t.Fatalf("%+v, %v", out.Measured, out.Err)
			}
			h := out.Histograms
			if h.GeneratorLag.Count() != 3*rate {
				t.Errorf("%d of %d messages say how much of their delay was the generator's", h.GeneratorLag.Count(), 3*rate)
			}
			if share := h.GeneratorLag.Mean() / h.Lag.Mean(); share < 0.85 || share > 1.0001 {
				t.Errorf("%.0f %% of the delays were the generator's own, nobody else's were", 100*share)
			}
			if late, blamed := h.Lag.CountAbove(int64(pause/5)), h.GeneratorLag.CountAbove(int64(pause/6)); late < 300 || blamed < late {
				t.Errorf("%d messages were late by the pause and the generator answers for %d", late, blamed)
			}
			longest := out.Pauses.Longest(out.From, out.Until)
			if got := time.Duration(longest.To - longest.From); got < pause*9/10 {
				t.Errorf("the longest pause was %v, want %v", got, pause)
			}
			if got := out.Pauses.Late.Quantile(0.95); got < int64(pause)/2 {
				t.Errorf("a message at a random moment would have waited %v at p95", time.Duration(got))
			}
		})
	}
}

func TestAPauseInsideTheClientIsNotTheClients(t *testing.T) {
	const pause = 300 * time.Millisecond
	stopped := false
	d := &script{}
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if p.sent > 200 && !stopped {
			stopped = true
			standStill(t, pause)
		}
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}
	out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{Schedule: constant(t, 1000), Duration: time.Second, Drain: 5 * time.Second})
	if got := time.Duration(out.Histograms.GeneratorLag.Max()); out.Err != nil || got < pause*8/10 {
		t.Errorf("the process stood still for %v inside Send, and the generator answers for %v (%v)", pause, got, out.Err)
	}
}

// The reference follows both producers message by message.
func TestOwnLagIsThatOfAProducerThatIsNeverLate(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var b ownLag
		now, free := int64(0), int64(0)
		for due := int64(0); due < 100_000; due += rng.Int64N(2000) {
			ready := max(now, due)
			own := int64(0)
			if rng.IntN(20) == 0 {
				own = rng.Int64N(20_000)
			}
			sent := ready + own
			if got, want := b.ownPart(due, sent), sent-max(due, free); got != want || got > sent-due || got < 0 {
				t.Fatalf("own %d, want %d of a delay of %d", got, want, sent-due)
			}
			held := rng.Int64N(1500)
			b.noteTaken(1, 1)
			b.addHold(due, hold{began: sent, ended: sent + held})
			free = max(free, due) + held
			now = sent + held
			if free > now {
				t.Fatal("the producer that is never late is behind the real one")
			}
		}
	}
}

func TestAClientThatHoldsTheProducerUpAnswersForIt(t *testing.T) {
	var b ownLag
	b.addHold(0, hold{began: 10, ended: 5010}) // the client took 5 µs for what was due at 0
	if got := b.ownPart(1000, 5100); got != 100 {
		t.Errorf("of 4,100 ns that the client's 5,000 caused but 100, the generator answers for %d", got)
	}
	if got := b.ownPart(6000, 6000); got != 0 {
		t.Errorf("a message in time: %d", got)
	}
	b.addHold(1000, hold{began: 5100, ended: 5200, stoodAtEnd: 130}) // a pause longer than what it interrupted
	if b.freeAt != 5000 {
		t.Errorf("free at %d", b.freeAt)
	}
}

// A broker that frees a slot every 1,000 ns is offered three messages in that time, and the generator dawdles for 100 ns
// before each: no message is later by that, however long it goes on.
func TestDelaysWhileTheWindowIsFullMakeNoMessageLater(t *testing.T) {
	var b ownLag
	const rounds, dawdle, service = 10_000, 100, 1000
	for k := range int64(rounds) {
		due, freed := k*service/3, (k+1)*service
		b.addHold(due, hold{began: max(1, k*service+dawdle), ended: freed})
		b.noteTaken(1, 2)
		sent := freed + dawdle
		if own := b.ownPart(due, sent); own > 3*dawdle {
			t.Fatalf("round %d: the generator answers for %d of %d ns", k, own, sent-due)
		}
		b.addHold(due, hold{began: sent, ended: sent})
	}
	// What it owed before the window was full, it still owes.
	b = ownLag{}
	b.addHold(0, hold{began: 90_000, ended: 90_010}) // 90 µs late by itself
	for k := range int64(20) {
		due, freed := 100+k*2000, 90_010+(k+1)*service
		b.noteTaken(1, 2)
		b.addHold(due, hold{began: freed - service, ended: freed})
		if own, want := b.ownPart(due, freed), freed-due-service; own < want-service {
			t.Fatalf("catching up, message %d: the generator answers for %d of %d ns", k, own, freed-due)
		}
	}
	// A standstill between two holds is not the window's.
	b = ownLag{}
	b.addHold(0, hold{began: 1, ended: 10})
	b.noteTaken(1, 2)
	b.addHold(0, hold{began: 50_000, ended: 50_010, stoodAtBegin: 49_000, stoodAtEnd: 49_000})
	if own := b.ownPart(0, 50_010); own < 49_000-20 {
		t.Errorf("the process stood still for 49 µs, and the generator answers for %d ns", own)
	}
}

func TestAllowancesDoNotRunWhileTheProcessStandsStill(t *testing.T) {
	const allowance, pause = time.Second, 1500 * time.Millisecond
	d := &script{}
	var held []func()
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		kept := append([]driver.Message(nil), batch...)
		finish := func() { p.deliver(kept); p.done(kept, nil) }
		if probing(batch) {
			finish()
			return nil
		}
		held = append(held, finish)
		if p.sent+len(batch) == 50+1 { // a probe, and all there are
			time.AfterFunc(200*time.Millisecond, func() {
				standStill(t, pause)
				time.Sleep(300 * time.Millisecond)
				for _, f := range held {
					f()
				}
			})
		}
		return nil
	}
	plan := simple(1, 1)
	out := ready(t, d, plan).Run(t.Context(), Load{Schedule: constant(t, 5000), Duration: 10 * time.Millisecond, Drain: allowance})
	if !out.Drained || out.Measured.Lost > 0 || out.Measured.Acked != 50 {
		t.Errorf("what came 0.5 s later, by the time this process was awake, did not come within %v: %+v", allowance, out.Measured)
	}
}
