package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// queue is the oracle: one server of known capacity behind a constant latency, fed at a constant rate, seen through
// samples with the noise of a client that fetches in batches.
type queue struct {
	capacity      float64
	latency       time.Duration
	subscriptions int
	noise         float64 // of the backlog, as seconds' worth of messages
	rng           *rand.Rand
}

func (q queue) trial(rate, seconds float64, long bool) Evidence {
	subs := float64(max(1, q.subscriptions))
	growth := math.Max(0, rate-q.capacity)
	e := Evidence{
		Rate: rate, Long: long, Offered: int64(rate * seconds), Sent: int64(rate * seconds),
		Expected: int64(rate*seconds) * int64(q.subscriptions), GeneratorLag: int64(100 * time.Microsecond),
	}
	for i := range int(seconds * 10) {
		t := float64(i) / 10
		standing := math.Min(rate, q.capacity)*q.latency.Seconds() + growth*t
		e.Backlog = append(e.Backlog, Point{t, math.Floor(subs * (standing + q.noise*rate*q.rng.Float64()))})
	}
	e.Latency = int64(q.latency) + int64(growth*seconds/q.capacity*1e9)
	// The allowance is a second: a backlog worth more than that doesn't drain in it.
	e.Drained = growth*seconds/q.capacity < 1
	return e
}

func (q queue) run(_ context.Context, r Request) (Answer, error) {
	if r.Kind == Probe {
		// Closed loop through a bounded window: latency may keep it far below the capacity.
		return Answer{Verdict: Pass, Throughput: math.Min(q.capacity, 1000/math.Max(1e-9, q.latency.Seconds()))}, nil
	}
	seconds := 2.0
	if r.Kind == Confirm {
		seconds = 10
	}
	e := q.trial(r.Rate, seconds, r.Kind == Confirm)
	v, why := DefaultRule().Judge(e)
	return Answer{Verdict: v, Reason: why, Throughput: math.Min(r.Rate, q.capacity)}, nil
}

func TestKnownCapacityIsFoundWithinFivePercentInAtMostTwelveShortTrialsOnAverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	short, searches := 0, 0
	for _, capacity := range []float64{500, 1234, 5_000, 20_000, 77_777, 300_000, 1_000_000} {
		for _, latency := range []time.Duration{0, 100 * time.Microsecond, 5 * time.Millisecond, 100 * time.Millisecond} {
			for _, subscriptions := range []int{0, 1, 3} {
				for _, noise := range []float64{0, 0.002} {
					q := queue{capacity, latency, subscriptions, noise, rng}
					name := fmt.Sprintf("%.0f/s %s %d subscriptions noise %g", capacity, latency, subscriptions, noise)
					r, err := Sustainable(t.Context(), Goal{Width: 0.05, Confirms: 2, MaxTrials: 40, Floor: 1},
						func(ctx context.Context, r Request) (Answer, error) {
							if r.Kind == Short {
								short++
							}
							return q.run(ctx, r)
						})
					searches++
					if err != nil || r.Incomplete != "" {
						t.Errorf("%s: %+v, %v", name, r, err)
						continue
					}
					// The rule itself allows a backlog that grows by 1 % of the rate.
					if r.Low < 0.95*capacity || r.Low > 1.011*capacity {
						t.Errorf("%s: found %.0f (bracket %.0f–%.0f)", name, r.Low, r.Low, r.High)
					}
				}
			}
		}
	}
	if mean := float64(short) / float64(searches); mean > 12 {
		t.Errorf("%.1f short trials on average, allowed 12", mean)
	}
}

func TestAConfirmationThatFailsLowersTheResult(t *testing.T) {
	// Short trials are fooled up to 1,000/s; long ones see that 800/s is the truth.
	r, err := Sustainable(t.Context(), Goal{Width: 0.05, Confirms: 2, MaxTrials: 60, Floor: 1},
		func(_ context.Context, r Request) (Answer, error) {
			limit := 1000.0
			if r.Kind == Confirm {
				limit = 800
			}
			if r.Kind == Probe || r.Rate <= limit {
				return Answer{Verdict: Pass, Throughput: 900}, nil
			}
			return Answer{Verdict: Fail, Throughput: limit}, nil
		})
	if err != nil || r.Low > 800 || r.Low < 700 {
		t.Errorf("found %+v, %v; the truth is 800", r, err)
	}
}

func TestAGeneratorThatLimitsIsReportedNotTakenForTheBroker(t *testing.T) {
	r, err := Sustainable(t.Context(), Goal{Width: 0.05, Confirms: 1, MaxTrials: 40, Floor: 1},
		func(_ context.Context, r Request) (Answer, error) {
			if r.Kind == Probe || r.Rate <= 1000 {
				return Answer{Verdict: Pass, Throughput: 1000}, nil
			}
			return Answer{Verdict: Void, Reason: "the generator was late"}, nil
		})
	if err != nil || r.Incomplete == "" || r.Low == 0 {
		t.Errorf("got %+v, %v; want a lower bound with the reason", r, err)
	}
}

func TestTheLastTrialsConfirmWhatThereIs(t *testing.T) {
	// A broker that long trials find ever slower: every confirmation fails until little is left to try.
	limit := 1000.0
	r, err := Sustainable(t.Context(), Goal{Width: 0.05, Confirms: 1, MaxTrials: 14, Floor: 1},
		func(_ context.Context, r Request) (Answer, error) {
			if r.Kind == Confirm && r.Rate > 500 {
				limit = r.Rate * 0.9
				return Answer{Verdict: Fail, Throughput: r.Rate}, nil
			}
			if r.Kind == Probe || r.Rate <= limit {
				return Answer{Verdict: Pass, Throughput: 1000}, nil
			}
			return Answer{Verdict: Fail, Throughput: limit}, nil
		})
	if err != nil || r.Low == 0 || r.Low > 500 || r.Trials > 14 {
		t.Errorf("found %+v, %v; want a confirmed rate of at most 500", r, err)
	}
}

func TestNothingSustainableIsSaidAndNotSearchedForever(t *testing.T) {
	trials := 0
	r, err := Sustainable(t.Context(), Goal{Width: 0.05, Confirms: 1, MaxTrials: 40, Floor: 1},
		func(context.Context, Request) (Answer, error) {
			trials++
			return Answer{Verdict: Fail, Throughput: 0}, nil
		})
	if err != nil || r.Low != 0 || r.Incomplete != "no rate passed" || trials > 12 {
		t.Errorf("got %+v, %v after %d trials", r, err, trials)
	}
}

func TestTheRuleNamesWhatFailed(t *testing.T) {
	good := queue{capacity: 1000, rng: rand.New(rand.NewPCG(3, 4))}.trial(900, 5, true)
	growing := queue{capacity: 1000, rng: rand.New(rand.NewPCG(3, 4))}.trial(1100, 5, true)
	edit := func(f func(*Evidence)) Evidence { e := good; f(&e); return e }
	for _, c := range []struct {
		name    string
		e       Evidence
		rule    func(*Rule)
		verdict Verdict
		reason  string
	}{
		{"backlog grows", growing, nil, Fail, "backlog grows by 100/s (at most 100/s with 95 % confidence; allowed 11/s)"},
		{"lost after an ack", edit(func(e *Evidence) { e.LostAcked = 1 }), nil, Fail, "1 confirmed messages were lost"},
		{"corrupted", edit(func(e *Evidence) { e.Corrupted = 2 }), nil, Fail, "2 messages were corrupted"},
		{"failed sends", edit(func(e *Evidence) { e.Failed = 3 }), nil, Fail, "3 of 4500 sends failed"},
		{"duplicates, exactly once", edit(func(e *Evidence) { e.Duplicated = 1 }), func(r *Rule) { r.Duplicates = false }, Fail, "1 messages were delivered twice"},
		{"not drained", edit(func(e *Evidence) { e.Drained = false }), nil, Fail, "not everything was confirmed and received within the drain allowance"},
		{"latency bound", edit(func(e *Evidence) { e.Latency = 3e8 }), func(r *Rule) { r.Bound = 200 * time.Millisecond }, Fail, "latency 300ms is above the bound of 200ms"},
		{"schedule not kept", edit(func(e *Evidence) { e.Sent = 4000 }), nil, Fail, "only 4000 of 4500 messages due could be handed to the client"},
		{"generator late", edit(func(e *Evidence) { e.GeneratorLag = 2e7 }), nil, Void, "the generator itself was 20ms late at p99 (allowed 10ms)"},
		{"generator saturated", edit(func(e *Evidence) { e.GeneratorCPU, e.Cores = 1.9, 2 }), nil, Void, "the generator used 1.9 of 2 cores"},
		{"all well", good, nil, Pass, ""},
	} {
		rule := DefaultRule()
		if c.rule != nil {
			c.rule(&rule)
		}
		if v, why := rule.Judge(c.e); v != c.verdict || why != c.reason {
			t.Errorf("%s: %s %q, want %s %q", c.name, v, why, c.verdict, c.reason)
		}
	}
}
