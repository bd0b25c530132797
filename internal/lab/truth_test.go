package lab_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/sim"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// The truth tests run the whole instrument, from spec to record, against a broker whose behaviour is set exactly.
// What they compare with is that setting, never how fast the machine is.

func TestAOneSecondFreezeShowsInTheLatencyOfEveryMessageThatWaited(t *testing.T) {
	for name, window := range map[string]int{"unbounded window": 0, "window of 20": 20} {
		t.Run(name, func(t *testing.T) {
			r := runUndisturbed(t, func(s *study.Spec) {
				setRate(s, 1000, 5*time.Second)
				s.Client = map[string]any{"stall.at": "2.3s", "stall.for": "1s", "window": window}
			})
			if r.Status != store.OK {
				t.Fatalf("%s: %s", r.Status, r.Reason)
			}
			// A fifth of the messages waits between 0 and 1 s, evenly: p90 is the median of those, p99 their p95.
			e2e := r.Result.Latency.EndToEnd
			checkNear(t, r, "p90", float64(e2e.Quantile(0.90)), 500e6, 0.03)
			checkNear(t, r, "p99", float64(e2e.Quantile(0.99)), 950e6, 0.03)
			checkNear(t, r, "max", float64(e2e.Max()), 1e9, 0.03)
			if n := e2e.Count(); n != 5000 {
				t.Errorf("%d latencies of 5000 messages", n)
			}
			checkNear(t, r, "largest backlog", float64(*r.Result.BacklogMax), 1000, 0.05)
			checkNear(t, r, "mean gap", float64(r.Result.Corrected.IntervalNs), 1e6, 0.01)
			if window > 0 {
				// The 20 messages that were sent into the freeze stand for a thousand each.
				checkNear(t, r, "corrected p99", float64(r.Result.Corrected.P99Ns), 980e6, 0.03)
				checkNear(t, r, "corrected mean", r.Result.Corrected.MeanNs, 400e6, 0.05)
			}
		})
	}
}

func TestAKnownDelayIsReadWithinOnePercent(t *testing.T) {
	for _, delay := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		for _, size := range []study.Size{8, 1024} {
			t.Run(fmt.Sprintf("%s %d bytes", delay, size), func(t *testing.T) {
				r := runUndisturbed(t, func(s *study.Spec) {
					setRate(s, 500, 2*time.Second)
					s.MessageSize = study.Sizes{{Size: size, Weight: 1}}
					s.Client = map[string]any{"latency": delay.String()}
				})
				// The median: single messages may be late because the machine is busy.
				checkNear(t, r, "e2e p50", float64(r.Result.Latency.EndToEnd.Quantile(0.5)), float64(delay), 0.01)
				seconds, err := results.MetricByKey("mean_of_seconds_ns")
				if err != nil {
					t.Fatal(err)
				}
				checkNear(t, r, "mean of one-second means", seconds.Of(r), r.Result.Latency.EndToEndService.Mean(), 0.05)
			})
		}
	}
}

func TestKnownFaultsAreCountedExactly(t *testing.T) {
	t.Parallel()
	const sent = 10_000
	count := func(s *study.Spec) {
		s.Measure, s.Count, s.Warmup = "count", study.Count{Messages: sent}, study.Warmup{}
		s.Load = study.Load{Shape: "constant", Rate: 20_000}
		s.Drain = study.Duration(1500 * time.Millisecond)
	}
	for _, c := range []struct {
		fault string
		every int64
		count func(store.Books) int64
		// Whether a probe before the trial was counted too is not known: the fault may hit one message more or less.
		status store.Status
	}{
		{"loss.every", 100, func(b store.Books) int64 { return b.Lost }, store.Failed},
		{"loss.every", 7, func(b store.Books) int64 { return b.LostAcked }, store.Failed},
		{"duplicate.every", 50, func(b store.Books) int64 { return b.Duplicated }, store.OK},
		{"reorder.every", 25, func(b store.Books) int64 { return b.Reordered }, store.OK},
		{"corrupt.every", 1000, func(b store.Books) int64 { return b.Corrupted }, store.Failed},
		{"fail.every", 500, func(b store.Books) int64 { return b.Failed }, store.Failed},
	} {
		t.Run(fmt.Sprintf("%s %d", c.fault, c.every), func(t *testing.T) {
			t.Parallel()
			r := runOnce(t, longSpec(t, func(s *study.Spec) {
				count(s)
				s.Client = map[string]any{c.fault: c.every}
			}), lab.Options{})
			if r.Result == nil {
				t.Fatalf("nothing measured: %s", r.Reason)
			}
			b := r.Result.Books
			if got, want := c.count(b), sent/c.every; got < want || got > want+1 {
				t.Errorf("%d, the truth is %d: %+v", got, want, b)
			}
			if b.Sent != sent || b.Sent != b.Acked+b.Failed+b.Unresolved || b.Received+b.Lost != b.Expected {
				t.Errorf("the books don't balance: %+v", b)
			}
			if r.Status != c.status && !(c.status == store.OK && countsHold(r)) {
				t.Errorf("status %s (%s), want %s", r.Status, r.Reason, c.status)
			}
		})
	}
}

func TestLostRangesNameTheMissingMessages(t *testing.T) {
	r := runUndisturbed(t, func(s *study.Spec) {
		s.Measure, s.Count, s.Warmup = "count", study.Count{Messages: 1000}, study.Warmup{}
		s.Drain = study.Duration(time.Second)
		s.Client = map[string]any{"loss.every": 100}
	})
	if len(r.Result.Streams) != 1 {
		t.Fatalf("%d streams with faults, want 1", len(r.Result.Streams))
	}
	ranges := r.Result.Streams[0].LostRanges
	var lost int64
	for i, x := range ranges {
		lost += x[1] - x[0] + 1
		if i > 0 && x[0]-ranges[i-1][0] != 100 {
			t.Errorf("ranges %v are not 100 apart", ranges)
		}
	}
	if lost != r.Result.Books.Lost {
		t.Errorf("ranges hold %d messages, the books %d", lost, r.Result.Books.Lost)
	}
}

func TestLateMessagesAreNotCalledLost(t *testing.T) {
	t.Parallel()
	late := func(latency time.Duration, lossEvery int) (doubts []string, reason string) {
		r := runOnce(t, longSpec(t, func(s *study.Spec) {
			setRate(s, 500, 2*time.Second)
			s.Drain = study.Duration(time.Second)
			s.Client = map[string]any{"latency": latency.String(), "loss.every": lossEvery}
		}), lab.Options{})
		for _, d := range r.Doubts {
			doubts = append(doubts, d.Code)
		}
		return doubts, r.Reason
	}
	doubts, reason := late(2*time.Second, 0) // half of it comes after the drain
	if !slices.Contains(doubts, "late") || slices.Contains(doubts, "loss") || !strings.Contains(reason, "others still came") {
		t.Errorf("late messages: doubts %v, %q", doubts, reason)
	}
	doubts, reason = late(0, 100)
	if slices.Contains(doubts, "late") || !slices.Contains(doubts, "loss") || !strings.Contains(reason, "lost") {
		t.Errorf("lost messages: doubts %v, %q", doubts, reason)
	}
}

func TestCostOfAMomentIsDoubted(t *testing.T) {
	for messages, want := range map[int64]bool{200: true, 4000: false} { // at 20,000/s: 10 ms and 200 ms
		r := runUndisturbed(t, func(s *study.Spec) {
			s.Measure, s.Count, s.Warmup = "count", study.Count{Messages: messages}, study.Warmup{}
			s.Client = map[string]any{"capacity": 20_000}
		})
		if hasDoubt(r, "coarse-cpu") != want {
			t.Errorf("%d messages: doubts %v, coarse-cpu wanted: %v", messages, r.Doubts, want)
		}
	}
}

func TestKnownCapacityIsFoundWithinFivePercent(t *testing.T) {
	for _, c := range []struct {
		capacity      float64
		latency       time.Duration
		subscriptions int
		long          bool
	}{
		{500, 100 * time.Millisecond, 1, true},
		{5_000, 0, 0, true},
		{20_000, 5 * time.Millisecond, 3, false},
		{60_000, time.Millisecond, 1, true},
	} {
		t.Run(fmt.Sprintf("%.0f %s %d", c.capacity, c.latency, c.subscriptions), func(t *testing.T) {
			if c.long {
				testkit.Long(t)
			}
			r := runUndisturbed(t, func(s *study.Spec) {
				s.Measure = "sustainable"
				s.SubscriptionsPerTopic = c.subscriptions
				s.Sustainable.Trial = study.Duration(time.Second)
				s.Sustainable.Warmup = study.Duration(200 * time.Millisecond)
				s.Sustainable.Confirm = study.Duration(3 * time.Second)
				s.Sustainable.Confirms = 1
				// The bracket is half as wide as the claim: its lower end may lie a whole width below the truth.
				s.Sustainable.Width = 0.025
				s.Client = map[string]any{"capacity": int64(c.capacity), "latency": c.latency.String()}
			})
			if r.Result == nil || r.Result.Sustainable == nil {
				t.Fatalf("%s: %s", r.Status, r.Reason)
			}
			found := r.Result.Sustainable
			for _, tr := range found.Trials {
				t.Logf("%-8s %9.0f/s %s %s", tr.Kind, tr.Rate, tr.Verdict, tr.Reason)
			}
			if r.Status != store.OK && !hasDoubt(r, "busy-machine") {
				t.Fatalf("%s: %s", r.Status, r.Reason)
			}
			checkNear(t, r, "sustainable rate", found.Low, c.capacity, 0.05)
		})
	}
}
