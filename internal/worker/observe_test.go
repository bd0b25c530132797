package worker

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/sim"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

func TestAnAutomaticWarmUpLastsAtLeastForAndAtMostMax(t *testing.T) {
	for name, c := range map[string]struct {
		latency func(sent int) time.Duration
		warmup  Warmup
	}{
		"steady":   {func(int) time.Duration { return 0 }, Warmup{Auto: true, For: 2 * time.Second, Max: 20 * time.Second}},
		"drifting": {func(sent int) time.Duration { return time.Duration(sent) * time.Millisecond }, Warmup{Auto: true, For: time.Second, Max: 3 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &script{}
			d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
				if wait := c.latency(p.sent); wait > 0 && !probing(batch) {
					p.later(batch, func(batch []driver.Message) {
						time.Sleep(wait)
						p.deliver(batch)
						p.done(batch, nil)
					})
					return nil
				}
				p.deliver(batch)
				p.done(batch, nil)
				return nil
			}
			var told []int64
			out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{
				Schedule: constant(t, 500), Warmup: c.warmup, Duration: 300 * time.Millisecond, Drain: 20 * time.Second,
				Hooks: Hooks{Measuring: func(at int64) { told = append(told, at) }},
			})
			warm := time.Duration(out.From - out.Start)
			if warm < c.warmup.For {
				t.Errorf("the warm-up lasted %v, at least %v was asked for", warm, c.warmup.For)
			}
			// When it ends is looked at every half second, and not more often on a busy machine.
			if drifts := name == "drifting"; drifts && warm < c.warmup.Max || !drifts && warm >= c.warmup.Max {
				t.Errorf("the warm-up lasted %v of at most %v", warm, c.warmup.Max)
			}
			if len(told) != 1 || told[0] != out.From || time.Duration(out.Until-out.From) != 300*time.Millisecond {
				t.Errorf("told %v; measured from %d for %v", told, out.From, time.Duration(out.Until-out.From))
			}
			if m := out.Measured; m.Sent != 150 && m.Sent != 149 && m.Sent != 151 || out.Warmup.Sent == 0 || out.Err != nil {
				t.Errorf("%d in warm-up, %d measured: %v", out.Warmup.Sent, m.Sent, out.Err)
			}
		})
	}
}

func TestTheBacklogCountsWhatWaitsInTheGenerator(t *testing.T) {
	// The broker serves a tenth of what is offered, and its client's window hides all but ten messages.
	w := ready(t, open(t, map[string]any{"capacity": 200, "window": 10}), simple(1, 2))
	var seen []Sample
	out := w.Run(t.Context(), Load{
		Schedule: constant(t, 2000), Duration: time.Second, Drain: time.Millisecond, Hooks: Hooks{Observe: func(s Sample) { seen = append(seen, s) }},
	})
	if len(seen) == 0 || len(seen) > len(out.Samples) {
		t.Fatalf("%d samples passed on, %d taken", len(seen), len(out.Samples))
	}
	for _, s := range out.Samples {
		if s.At <= out.Start || s.At > out.Until {
			continue
		}
		if want := 2 * s.Due; s.Backlog < want-s.Count.Received-2*s.Count.Failed || s.Backlog > want {
			t.Errorf("backlog %d with %d due and %d received", s.Backlog, s.Due, s.Count.Received)
		}
		if due := (s.At - out.Start) / 500_000; s.Due < due || s.Due > due+1 || s.Phase != measure.Measured {
			t.Errorf("phase %d: %d due, want %d", s.Phase, s.Due, due)
		}
	}
	last := out.Samples[len(out.Samples)-1]
	served := int64(float64(last.At-out.Start)/1e9*200) + 1
	if least := 2 * (2000 - last.Count.Failed - served); last.Backlog < least {
		t.Errorf("backlog %d in the end, with at most %d served of 2000 it is at least %d", last.Backlog, served, least)
	}
}

// open opens a sim of its own with these settings.
func open(t *testing.T, client map[string]any) driver.Driver {
	t.Helper()
	k := sim.Kind()
	values, err := driver.Decode(k.Settings, driver.ClientScope, client)
	if err != nil {
		t.Fatal(err)
	}
	d, err := k.Open(t.Context(), driver.Config{
		Target:    driver.Target{Addresses: []string{t.Name()}},
		Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered},
		Client:    values,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(); sim.Remove(t.Name()) })
	return d
}

// What is due is computed for the time of a sample, and what came is counted after it. If reading the latencies lay in between,
// the backlog would seem smaller by all that came meanwhile.
func TestLatenciesAreReadBeforeTheTimeOfASample(t *testing.T) {
	w := prepared(t, 1, 100)
	tr := w.begin(Load{Messages: 1}, 0)
	tr.recording.watch.Close() // it reads the books that are replaced here
	const messages = 20_000    // of latencies from 1 ns to 20 s: to read them takes a while
	trial := measure.NewTrial(measure.Shape{Producers: 1, Consumers: 8, Subscriptions: 1})
	p := trial.Producer(0)
	for seq := range uint64(messages) {
		p.Sent(seq, 100, 0, 0, 0)
	}
	p.Commit()
	for k := range 8 {
		c := trial.Consumer(k, 0, nil)
		for seq := k; seq < messages; seq += 8 {
			c.Received(&wire.Header{ID: wire.MakeID(0, uint64(seq)), Timed: true}, 1+int64(seq)*int64(time.Millisecond))
		}
		c.Commit()
	}
	tr.recording.books = trial
	o := newObserver(w, tr)
	shortest := int64(math.MaxInt64) // that reading the latencies takes
	for range 10 {
		began := clock.Now()
		o.readLatencies()
		shortest = min(shortest, clock.Now()-began)
	}
	began := clock.Now()
	o.look(withLatencies)
	if after := o.samples.Values()[0].At - began; after < shortest/2 {
		t.Errorf("a sample was taken %d ns after a look began, though reading the latencies takes %d ns", after, shortest)
	}
}
