package worker

import (
	"runtime"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/schedule"
)

func TestWorkIsCountedByMessagesAndDeliveries(t *testing.T) {
	for _, c := range []struct {
		name       string
		rate, size float64
		deliveries int
		want       bool
	}{
		{"25,000/s to one", 25_000, 100, 1, true},
		{"more", 25_001, 100, 1, false},
		{"to no subscription, twice as much", 50_000, 100, 0, true},
		{"to 60, a thirtieth", 819, 100, 60, true},
		{"to 60, more", 820, 100, 60, false},
		{"large messages", 1000, 52_428, 1, true},
		{"larger ones", 1000, 52_429, 1, false},
		{"large messages to three", 500, 52_429, 3, false},
	} {
		if got := (messageWork{meanBytes: c.size, subscriptions: c.deliveries}).oneThreadCarries(c.rate); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestAllTrialsOfASearchUseAsManyThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(before)
	w := prepared(t, 1, 100)
	for _, rate := range []float64{1000, 200_000} {
		s, err := schedule.Constant(rate)
		if err != nil {
			t.Fatal(err)
		}
		load := Load{Schedule: s, Duration: 20 * time.Millisecond, Drain: time.Second}
		for about, want := range map[float64]int{1000: 1, 1e6: 2} {
			load.RateForThreads = about
			if out := w.Run(t.Context(), load); out.Procs != want || runtime.GOMAXPROCS(0) != 2 {
				t.Errorf("%.0f/s in a search about %.0f/s: %d threads, want %d; %d afterwards", rate, about, out.Procs, want, runtime.GOMAXPROCS(0))
			}
		}
		load.RateForThreads = 0
		want := 1
		if rate > oneThreadRate {
			want = 2
		}
		if out := w.Run(t.Context(), load); out.Procs != want {
			t.Errorf("%.0f/s by itself: %d threads", rate, out.Procs)
		}
	}
}

// An agent sleeps until a trial starts, beside the trial.
func TestASleeperThatEndsDuringATrialTakesNoneOfItsThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	w := prepared(t, 1, 100)
	agents := clock.NewSleeper()
	apart := runtime.GOMAXPROCS(0) - before // threads that a Sleeper adds
	limit := clock.SetThreads(w.threadsFor(Load{Schedule: constant(t, 1000)}))
	trials := clock.NewSleeper()
	agents.Close()
	if n := runtime.GOMAXPROCS(0); n != 1+apart {
		t.Errorf("%d threads during the trial, of which a Sleeper keeps %d", n, apart)
	}
	trials.Close()
	clock.SetThreads(limit)
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d threads after the trial, %d before it", n, before)
	}
}

func TestAHopelessTrialEndsThere(t *testing.T) {
	w := prepared(t, 1, 100)
	s, err := schedule.Constant(1000)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	began := time.Now()
	out := w.Run(t.Context(), Load{
		Schedule: s, Warmup: Warmup{For: 100 * time.Millisecond}, Duration: time.Minute, Drain: time.Second,
		Hooks: Hooks{Hopeless: func(samples []Sample) bool {
			if last := samples[len(samples)-1]; last.Phase != 1 || !last.Sending {
				t.Errorf("asked outside the measured phase: %+v", last)
			}
			asked++
			return asked == 3
		}},
	})
	length := time.Duration(out.Until - out.From)
	if !out.Hopeless || asked != 3 || length > 10*time.Second || time.Since(began) > 20*time.Second || out.Err != nil || !out.Drained {
		t.Errorf("asked %d times, ended after %s: %+v", asked, length, out.Err)
	}
	if due := length.Seconds() * 1000; float64(out.Measured.Due) > due+1 || float64(out.Measured.Sent) < due/2 {
		t.Errorf("%d due, %d sent in %s", out.Measured.Due, out.Measured.Sent, length)
	}
}

// Messages go out while it is decided that a trial ends: they are of the measured phase, whose books balance.
func TestTheBooksOfAHopelessTrialBalance(t *testing.T) {
	s, err := schedule.Constant(10_000)
	if err != nil {
		t.Fatal(err)
	}
	out := prepared(t, 1, 100).Run(t.Context(), Load{
		Schedule: s, Warmup: Warmup{For: 100 * time.Millisecond}, Duration: time.Minute, Drain: time.Second,
		Hooks: Hooks{Hopeless: func([]Sample) bool {
			time.Sleep(50 * time.Millisecond)
			return true
		}},
	})
	if b := out.Measured; !out.Hopeless || out.Err != nil || b.Sent == 0 || !b.Balanced() {
		t.Errorf("hopeless %t, %v, %+v", out.Hopeless, out.Err, b)
	}
}
