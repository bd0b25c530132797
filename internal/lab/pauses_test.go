package lab_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// pauseProcess stops this process for length, n times, every so often, beginning after delay.
func pauseProcess(t *testing.T, delay, length, every time.Duration, n int) {
	t.Helper()
	script := fmt.Sprintf("sleep %.3f; for i in $(seq %d); do kill -STOP %d; sleep %.3f; kill -CONT %[3]d; sleep %.3f; done",
		delay.Seconds(), n, os.Getpid(), length.Seconds(), (every - length).Seconds())
	c := exec.Command("sh", "-c", script)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestPausesOfTheGeneratorAreNotBlamedOnTheBroker(t *testing.T) {
	testkit.NotShort(t)
	for name, c := range map[string]struct {
		rate          float64
		length, every time.Duration
		n             int
		status        store.Status
	}{
		"one second in the middle":         {1000, time.Second, time.Second, 1, store.Void},
		"50 ms, again and again, at speed": {20_000, 50 * time.Millisecond, 500 * time.Millisecond, 5, store.Void},
		"8 ms, again and again":            {1000, 8 * time.Millisecond, 100 * time.Millisecond, 22, ""}, // void or doubted
	} {
		t.Run(name, func(t *testing.T) {
			pauseProcess(t, 700*time.Millisecond, c.length, c.every, c.n)
			r := runOnce(t, simSpec(func(s *study.Spec) { setRate(s, c.rate, 3*time.Second) }), lab.Options{})
			if r.Result == nil {
				t.Fatalf("%s: %s", r.Status, r.Reason)
			}
			if c.status != "" && r.Status != c.status {
				t.Errorf("%s %s with %v: p99 %v", r.Status, r.Reason, r.Doubts, time.Duration(r.Result.Latency.EndToEnd.Quantile(0.99)))
			}
			if r.Status == store.Void && c.length > 20*time.Millisecond && !strings.Contains(r.Reason, "the longest pause was") {
				t.Errorf("void, and the pause isn't named: %s", r.Reason)
			}
			if r.Status == store.OK && !hasDoubt(r, "generator-lag") && !hasDoubt(r, "pauses") {
				t.Errorf("ok without a doubt: p99 %v, %v", time.Duration(r.Result.Latency.EndToEnd.Quantile(0.99)), r.Doubts)
			}
			if p := r.Result.Pauses; p.LongestNs < int64(c.length)*9/10-int64(5*time.Millisecond) || p.Late.Count() == 0 {
				t.Errorf("the record knows of pauses up to %v (%d wake-ups)", time.Duration(p.LongestNs), p.Late.Count())
			}
			if n := r.Result.Latency.GeneratorLag.Count(); n != r.Result.Books.Sent {
				t.Errorf("%d of %d messages say how much of their delay was the generator's", n, r.Result.Books.Sent)
			}
		})
	}
}

// checkASingleStop runs a spec of 15 s in which this process stands still for 100 ms. The p99 doesn't show that, and the quantiles
// above it do: a doubt says so, and no objective blames the broker.
func checkASingleStop(t *testing.T, s study.Spec, o lab.Options) {
	t.Helper()
	testkit.NotShort(t)
	s.Objectives = study.Objectives{"e2e_p999": "< 20ms", "e2e_max": "< 80ms"}
	var r store.Record
	for range 3 {
		pauseProcess(t, 5*time.Second, 100*time.Millisecond, 100*time.Millisecond, 1)
		if r = runOnce(t, s, o); r.Status == store.OK && !hasDoubt(r, "busy-machine") {
			break
		}
	}
	if r.Status != store.OK || hasDoubt(r, "busy-machine") {
		testkit.Undecided(t, "this machine was too busy three times: %s %s, %v", r.Status, r.Reason, r.Doubts)
	}
	named := slices.ContainsFunc(r.Doubts, func(d store.Doubt) bool {
		return d.Is(doubt.Pauses) && slices.Contains(d.Quantiles, 0.999) && slices.Contains(d.Quantiles, 1)
	})
	if !named {
		t.Errorf("p99.9 %v: %v", time.Duration(r.Result.Latency.EndToEnd.Quantile(0.999)), r.Doubts)
	}
	for _, v := range gate.JudgeObjectives(results.Of([]store.Record{r})) {
		if v.Outcome != gate.Undecided {
			t.Errorf("%+v", v)
		}
	}
}

func TestASingleStopOfTheGeneratorIsNotBlamedOnTheBroker(t *testing.T) {
	testkit.Long(t)
	checkASingleStop(t, simSpec(func(s *study.Spec) { setRate(s, 1000, 15*time.Second) }), lab.Options{})
}

// The broker runs in a process of its own, and goes on meanwhile.
func TestASingleStopOfTheGeneratorIsNotBlamedOnARealBroker(t *testing.T) {
	testkit.Long(t)
	checkASingleStop(t, parseSpec(t, `
broker: nats
delivery: at-most-once
persistence: memory
acks: none
measure: rate
load.rate: 1000
duration: 15s
warmup: 1s
`), lab.Options{Host: newHost(t)})
}

// Without the stops the latency is 1 ms. The broker is far from its capacity: near it, a queue is left behind by each stop, and no rule
// tells that from the broker's own.
func TestASearchThatOnlyStopsOfTheGeneratorFailIsVoid(t *testing.T) {
	testkit.NotShort(t)
	pauseProcess(t, 0, 8*time.Millisecond, 200*time.Millisecond, 50)
	r := runOnce(t, simSpec(func(s *study.Spec) {
		s.Measure, s.Client = "sustainable", map[string]any{"capacity": 200_000, "latency": "1ms"}
		s.Sustainable.MaxRate = 4000
		s.Sustainable.Latency, s.Sustainable.Quantile = study.Duration(5*time.Millisecond), 0.99
		s.Sustainable.Trial, s.Sustainable.Confirm, s.Sustainable.Budget = study.Duration(time.Second), study.Duration(time.Second), study.Duration(8*time.Second)
	}), lab.Options{})
	if r.Status == store.Failed {
		t.Errorf("%s", r.Reason)
	}
	if r.Result == nil || r.Result.Sustainable == nil {
		return
	}
	for _, tr := range r.Result.Sustainable.Trials {
		t.Logf("%-8s %9.0f/s %s %s", tr.Kind, tr.Rate, tr.Verdict, tr.Reason)
		if tr.Verdict == "fail" && tr.EndToEndP99 < 12e6 && strings.HasPrefix(tr.Reason, "latency ") {
			t.Errorf("%.0f/s failed: %s", tr.Rate, tr.Reason)
		}
	}
}

func TestAClosedLoopThatStoodStillIsDoubted(t *testing.T) {
	pauseProcess(t, 700*time.Millisecond, 200*time.Millisecond, 200*time.Millisecond, 1)
	r := runOnce(t, simSpec(func(s *study.Spec) {
		s.Measure, s.Duration = "peak", study.Duration(2*time.Second)
		s.Client = map[string]any{"capacity": 20_000}
	}), lab.Options{})
	if r.Status == store.OK && !hasDoubt(r, "pauses") {
		t.Errorf("a tenth of the time is missing from %.0f/s, and nothing says so: %v", r.Result.PublishRate, r.Doubts)
	}
}

func TestARunThatMissedItsRateSaysSoFirst(t *testing.T) {
	r := runUndisturbed(t, func(s *study.Spec) {
		setRate(s, 3000, 2*time.Second)
		s.Client = map[string]any{"capacity": 1000}
		s.InFlight.Messages, s.Drain = 100, study.Duration(time.Second)
	})
	if r.Result == nil {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	b := r.Result.Books
	if b.Due != 6000 || b.Sent+b.Unsent != b.Due || b.Unsent < 2000 {
		t.Errorf("books: %+v; 6,000 were due and about 3,000 could be sent", b)
	}
	if n := r.Result.Latency.EndToEnd.Count(); n != b.Due {
		t.Errorf("%d latencies of %d messages that were due", n, b.Due)
	}
	if r.Result.OfferedRate != 3000 {
		t.Errorf("offered %v/s", r.Result.OfferedRate)
	}
	if len(r.Doubts) == 0 || r.Doubts[0].Code != "rate-missed" || !strings.Contains(r.Doubts[0].Text, "of 6000 messages due were never sent") ||
		!strings.Contains(r.Doubts[0].Text, "the limit: producers waited for a free place in the window for ") || !r.Result.Limits.Are("client-window") {
		t.Errorf("%s %s: %v, %s", r.Status, r.Reason, r.Doubts, r.Result.Limits)
	}
}

func TestARateThatOnlyTheDrainCaughtUpWithIsMissedAsWell(t *testing.T) {
	r := runUndisturbed(t, func(s *study.Spec) {
		setRate(s, 2000, 2*time.Second)
		s.Client = map[string]any{"capacity": 1500}
	})
	if r.Status != store.OK || r.Result.Books.Unsent != 0 || len(r.Doubts) == 0 || r.Doubts[0].Code != "rate-missed" ||
		!strings.Contains(r.Doubts[0].Text, "the generator used 0.") {
		t.Errorf("%s %s: %v, %+v", r.Status, r.Reason, r.Doubts, r.Result.Books)
	}
}

func TestARampSpansTheMeasuredPhase(t *testing.T) {
	r := runUndisturbed(t, func(s *study.Spec) {
		setRate(s, 0, 2*time.Second)
		s.Load.Shape, s.Load.To = "ramp", 4000
	})
	if r.Result == nil || r.Result.OfferedRate != 2000 || r.Result.Books.Due != 4000 {
		t.Errorf("%s %s: offered %v/s, %+v; a ramp from 0 to 4,000/s over 2 s is 4,000 messages", r.Status, r.Reason, r.Result.OfferedRate, r.Result.Books)
	}
}
