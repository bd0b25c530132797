package search

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/testkit"
)

// good is the evidence of a long trial at 1,000/s that passes everything.
func good() Evidence {
	return Evidence{
		Rate: 1000, Subscriptions: 1, FullLength: true, Drained: true, Drain: 10 * time.Second, Books: ledger.Books{Due: 5000, Sent: 5000, Expected: 5000},
		Backlog: line(5, 40, 0, 0, nil), Generator: Generator{LagP99: int64(100 * time.Microsecond), Cores: 2, UsedCores: 0.5},
		Latency: known(func(q float64) int64 { return int64(q * 1e9) }),
	}
}

func with(f func(*Evidence)) Evidence { e := good(); f(&e); return e }

// asked of the broker unless a test says otherwise.
var asked = ledger.Guarantee{Delivery: "at-least-once", Persistence: "log", Ordering: "unordered"}

// Each condition on both sides of its bound.
func TestTheRuleNamesWhatFailed(t *testing.T) {
	lossy := func(r *Rule) { r.Guarantee.Delivery = "at-most-once" }
	once := func(r *Rule) { r.Guarantee.Delivery = "exactly-once" }
	ordered := func(r *Rule) { r.Guarantee.Ordering = "ordered" }
	growing := func(slope float64) Evidence {
		return with(func(e *Evidence) { e.Backlog = line(5, 40, slope, 0, nil) })
	}
	short := func(slope float64) Evidence {
		return with(func(e *Evidence) { e.Backlog, e.FullLength = line(1, 40, slope, 0, nil), false })
	}
	bound := Goal{Latency: 900 * time.Millisecond, Quantile: 0.9}
	most := Goal{LossRatio: 0.001}
	for _, c := range []struct {
		name   string
		e      Evidence
		goal   Goal
		rule   func(*Rule)
		want   Verdict
		reason string
		broken bool
	}{
		{name: "all well", e: good(), want: Pass},
		{name: "corrupted", e: with(func(e *Evidence) { e.Books.Corrupted = 2 }), want: Fail, reason: "2 messages arrived corrupted", broken: true},
		{name: "corrupted at most once", e: with(func(e *Evidence) { e.Books.Corrupted = 1 }), rule: lossy, want: Fail, reason: "1 messages arrived corrupted", broken: true},
		{name: "lost after an ack", e: with(func(e *Evidence) { e.Books.Lost, e.Books.LostAcked, e.Drained = 1, 1, false }), want: Fail, reason: "1 messages were lost although the broker had confirmed them", broken: true},
		{name: "lost even in an overloaded, void trial", e: with(func(e *Evidence) { e.Books.LostAcked, e.Generator.LagP99 = 3, 1e12 }), want: Fail, reason: "3 messages were lost although the broker had confirmed them", broken: true},
		{name: "late, not lost", e: with(func(e *Evidence) { e.Books.Lost, e.Books.LostAcked, e.StillArriving, e.Drained = 7, 7, true, false }), want: Fail, reason: "7 confirmed messages had not come within the drain allowance of 10s, though others still came"},
		{name: "dropped by a limit, nothing still came", e: with(func(e *Evidence) { e.Books.Lost, e.Books.LostAcked, e.Books.MayDrop, e.Drained = 7, 7, 9, false }), want: Fail, reason: "7 confirmed messages had not come within the drain allowance of 10s"},
		{name: "no duplicates where none may be", e: good(), rule: once, want: Pass},
		{name: "duplicates, at least once", e: with(func(e *Evidence) { e.Books.Duplicated = 9 }), want: Pass},
		{name: "duplicates, exactly once", e: with(func(e *Evidence) { e.Books.Duplicated = 1 }), rule: once, want: Fail, reason: "1 messages were delivered twice although exactly once was asked for", broken: true},
		{name: "out of order where none was asked for", e: with(func(e *Evidence) { e.Books.Reordered = 9 }), want: Pass},
		{name: "out of order", e: with(func(e *Evidence) { e.Books.Reordered = 2 }), rule: ordered, want: Fail, reason: "2 messages arrived out of order although order was asked for", broken: true},
		{name: "lost, though more was out of order", e: with(func(e *Evidence) { e.Books.Reordered, e.Books.LostAcked = 9, 1 }), rule: ordered, want: Fail, reason: "1 messages were lost although the broker had confirmed them", broken: true},
		{name: "late messages and one out of order", e: with(func(e *Evidence) { e.Books.Reordered, e.Books.LostAcked, e.StillArriving = 1, 9, true }), rule: ordered, want: Fail, reason: "1 messages arrived out of order although order was asked for", broken: true},
		{name: "duplicates, at most once", e: with(func(e *Evidence) { e.Books.Duplicated = 1 }), rule: lossy, want: Fail, reason: "1 messages were delivered twice although at most once was asked for", broken: true},
		{name: "one send failed", e: with(func(e *Evidence) { e.Books.Failed = 1 }), want: Fail, reason: "1 of 5000 sends failed"},
		{name: "at most once, five of 5,000 sends may fail", e: with(func(e *Evidence) { e.Books.Failed = 5 }), goal: most, rule: lossy, want: Pass},
		{name: "at most once, ten are too many", e: with(func(e *Evidence) { e.Books.Failed = 10 }), goal: most, rule: lossy, want: Fail, reason: "10 of 5000 sends failed"},
		{name: "at most once, one of a hundred is lost", e: with(func(e *Evidence) {
			e.Books.Due, e.Books.Sent, e.Books.Expected, e.Books.Lost, e.Books.LostAcked, e.Drained = 100, 100, 100, 1, 1, false
		}), goal: most, rule: lossy, want: Pass},
		{name: "at most once, ten are lost", e: with(func(e *Evidence) { e.Books.Lost, e.Books.LostAcked, e.Drained = 10, 10, false }), goal: most, rule: lossy, want: Fail, reason: "10 of 5000 deliveries were lost"},
		{name: "at most once, one is lost by all of 60 subscriptions", e: with(func(e *Evidence) { e.Subscriptions, e.Books.Expected, e.Books.Lost, e.Drained = 60, 300_000, 60, false }), goal: most, rule: lossy, want: Pass},
		{name: "at most once, ten are lost by all of 60 subscriptions", e: with(func(e *Evidence) {
			e.Subscriptions, e.Books.Expected, e.Books.Lost, e.Drained = 60, 300_000, 541, false
		}), goal: most, rule: lossy, want: Fail, reason: "541 of 300000 deliveries were lost: at least 10 of 5000 messages"},
		{name: "at most once, late", e: with(func(e *Evidence) { e.Books.Lost, e.StillArriving, e.Drained = 10, true, false }), goal: most, rule: lossy, want: Fail, reason: "not everything was confirmed and received within the drain allowance of 10s"},
		{name: "at most once, slow", e: with(func(e *Evidence) { e.Drained = false }), goal: most, rule: lossy, want: Fail, reason: "not everything was confirmed and received within the drain allowance of 10s"},
		{name: "not drained", e: with(func(e *Evidence) { e.Drained = false }), want: Fail, reason: "not everything was confirmed and received within the drain allowance of 10s"},
		{name: "grows by 10 %", e: growing(100), want: Fail, reason: "backlog grows by 100/s (at most 100/s with 95 % confidence; allowed 10/s)"},
		{name: "grows by a little more than 1 %", e: growing(10.1), want: Fail, reason: "backlog grows by 10/s (at most 10/s with 95 % confidence; allowed 10/s)"},
		{name: "grows by 0.5 % for certain", e: growing(5), want: Fail, reason: "backlog grows by 5/s (at least 5/s with 95 % confidence; allowed 2.51/s)"},
		{name: "grows by a little less than 0.25 %", e: growing(2.49), want: Pass},
		{name: "shrinks", e: growing(-100), want: Pass},
		{name: "a short trial grows by less than 1 %", e: short(9.9), want: Pass},
		{name: "a short trial grows by more than 1 %", e: short(10.1), want: Fail, reason: "backlog grows by 10/s (allowed 10/s)"},
		{name: "60 subscriptions may have 60 times the backlog", e: with(func(e *Evidence) {
			e.Subscriptions, e.Books.Expected, e.Backlog = 60, 300_000, line(5, 40, 140, 0, nil)
		}), want: Pass},
		{name: "60 subscriptions", e: with(func(e *Evidence) {
			e.Subscriptions, e.Books.Expected, e.Backlog = 60, 300_000, line(5, 40, 601, 0, nil)
		}), want: Fail, reason: "backlog grows by 601/s (at most 601/s with 95 % confidence; allowed 600/s)"},
		{name: "no subscription counts as one", e: with(func(e *Evidence) { e.Subscriptions, e.Books.Expected, e.Backlog = 0, 0, line(5, 40, 9, 0, nil) }), want: Fail, reason: "backlog grows by 9/s (at least 9/s with 95 % confidence; allowed 2.51/s)"},
		{name: "ended early", e: with(func(e *Evidence) { e.Hopeless, e.Backlog = true, line(1, 0, 50, 0, nil) }), want: Fail, reason: "backlog grew by 50/s (allowed 10/s): ended early"},
		{name: "ended before its growth was known", e: with(func(e *Evidence) { e.Hopeless, e.Backlog = true, nil }), want: Fail, reason: "ended early: the backlog grew too fast"},
		{name: "at most once, one lost and one unconfirmed", e: with(func(e *Evidence) {
			e.Books.Due, e.Books.Sent, e.Books.Expected, e.Books.Lost, e.Books.LostAcked, e.Books.Unresolved, e.Drained = 100, 100, 100, 1, 1, 1, false
		}), goal: most, rule: lossy, want: Fail, reason: "not everything was confirmed and received within the drain allowance of 10s"},
		{name: "a full-length trial of unknown growth", e: with(func(e *Evidence) { e.Backlog = nil }), want: Void, reason: "the backlog was sampled too rarely to tell whether it grew"},
		{name: "a short trial of unknown growth", e: with(func(e *Evidence) { e.Backlog, e.FullLength = nil, false }), want: Pass},
		{name: "unknown growth hides no failure", e: with(func(e *Evidence) { e.Backlog, e.Drained = nil, false }), want: Fail, reason: "not everything was confirmed and received within the drain allowance of 10s"},
		{name: "nothing was due", e: with(func(e *Evidence) { e.Books = ledger.Books{} }), want: Void, reason: "no message was due, so nothing was tested"},
		{name: "nothing was sent", e: with(func(e *Evidence) { e.Books = ledger.Books{Due: 10} }), want: Fail, reason: "only 0 of 10 messages due could be handed to the client"},
		{name: "a bound on a latency that was not measured", e: with(func(e *Evidence) { e.Latency = nil }), goal: bound, want: Void, reason: "no latency was measured"},
		{name: "no latency measured, none bounded", e: with(func(e *Evidence) { e.Latency = nil }), want: Pass},
		{name: "latency above by less than is shown", e: with(func(e *Evidence) { e.Latency = known(func(q float64) int64 { return int64(q*1e9) + 1 }) }), goal: bound, want: Fail, reason: "latency 900.000001ms is above the bound of 900ms"},
		{name: "99 % were sent", e: with(func(e *Evidence) { e.Books.Sent = 4950 }), want: Pass},
		{name: "the rate was missed", e: with(func(e *Evidence) { e.Missed = remark.Of("950/s of 1000/s came through") }), want: Fail, reason: "950/s of 1000/s came through"},
		{name: "a short trial may miss it", e: with(func(e *Evidence) { e.Missed, e.FullLength = remark.Of("950/s of 1000/s came through"), false }), want: Pass},
		{name: "schedule not kept", e: with(func(e *Evidence) { e.Books.Sent = 4949 }), want: Fail, reason: "only 4949 of 5000 messages due could be handed to the client"},
		{name: "latency at its bound", e: good(), goal: bound, want: Pass},
		{name: "latency below, by more than the clocks", e: with(func(e *Evidence) {
			e.ClockBound = time.Millisecond
			e.Latency = known(func(q float64) int64 { return int64(q*1e9) - int64(time.Millisecond) })
		}), goal: bound, want: Pass},
		{name: "latency below, by less than the clocks", e: with(func(e *Evidence) {
			e.ClockBound = time.Millisecond
			e.Latency = known(func(q float64) int64 { return int64(q*1e9) - int64(time.Millisecond) + 1 })
		}), goal: bound, want: Fail, reason: "latency 899.000001ms ±1ms: the agents' clocks are too inexact to say whether it is above the bound of 900ms"},
		{name: "clocks that can't be right", e: with(func(e *Evidence) { e.ClockBound, e.Early = time.Millisecond, 2*time.Millisecond }), goal: bound, want: Void, reason: "a message seems to have come 2ms before it was sent, though the clocks of the hosts are known to each other to ±1ms: that bound does not hold"},
		{name: "latency above", e: with(func(e *Evidence) { e.Latency = known(func(q float64) int64 { return int64(q*1e9) + 1000 }) }), goal: bound, want: Fail, reason: "latency 900.001ms is above the bound of 900ms"},
		{name: "latency of what never came, below and above", e: with(func(e *Evidence) { e.Latency = neverCame(5e9) }), goal: bound, want: Fail, reason: "latency 5s is above the bound of 900ms"},
		{name: "latency of what never came, below only", e: with(func(e *Evidence) { e.Latency = neverCame(5e8) }), goal: bound, want: Fail, reason: "latency of at least 500ms: whether it is above the bound of 900ms is not known, since messages never came"},
		{name: "latency above by less than the generator's part", e: with(func(e *Evidence) {
			e.Latency = known(func(q float64) int64 { return int64(q*1e9) + 3e6 })
			e.WithoutGenerator = func(q float64) int64 { return int64(q * 1e9) }
		}), goal: bound, want: Void, reason: "latency 903ms is above the bound of 900ms, and up to 3ms of it may be the generator's own lag and pauses"},
		{name: "latency above by more than the generator's part", e: with(func(e *Evidence) {
			e.Latency = known(func(q float64) int64 { return int64(q*1e9) + 3e6 })
			e.WithoutGenerator = func(q float64) int64 { return int64(q*1e9) + 1 }
		}), goal: bound, want: Fail, reason: "latency 903ms is above the bound of 900ms"},
		{name: "too many never came, and late by the generator", e: with(func(e *Evidence) {
			e.Latency, e.WithoutGenerator = neverCame(5e9), func(float64) int64 { return 0 }
		}), goal: bound, want: Fail, reason: "latency 5s is above the bound of 900ms"},
		{name: "latency that passes with the generator's part", e: with(func(e *Evidence) { e.WithoutGenerator = func(float64) int64 { return 0 } }), goal: bound, want: Pass},
		{name: "not drained, and late by the generator", e: with(func(e *Evidence) {
			e.Drained, e.Latency = false, known(func(float64) int64 { return 1e10 })
			e.WithoutGenerator = func(float64) int64 { return 0 }
		}), goal: bound, want: Fail, reason: "not everything was confirmed and received within the drain allowance of 10s"},
		{name: "a quarter of the latency", e: with(func(e *Evidence) { e.Generator.LagP99 = 990e6 / 4 }), want: Pass},
		{name: "generator late", e: with(func(e *Evidence) { e.Generator.LagP99 = 990e6/4 + 1 }), want: Void, reason: "the generator itself was 247.5ms late at p99 (allowed 247.5ms)"},
		{name: "generator late by 10 ms", e: with(func(e *Evidence) { e.Generator.LagP99, e.Latency = 1e7, nil }), want: Pass},
		{name: "generator later", e: with(func(e *Evidence) { e.Generator.LagP99, e.Latency = 2e7, nil }), want: Void, reason: "the generator itself was 20ms late at p99 (allowed 10ms)"},
		{name: "a generator at 90 %", e: with(func(e *Evidence) { e.Generator.UsedCores = 1.8 }), want: Pass},
		{name: "generator saturated", e: with(func(e *Evidence) { e.Generator.UsedCores = 1.81 }), want: Void, reason: "the generator used 1.8 of 2 cores"},
		{name: "saturated on one core", e: with(func(e *Evidence) { e.Generator.UsedCores, e.Generator.Cores = 0.95, 1 }), want: Void, reason: "the generator used 0.9 of 1 cores"},
		{name: "a short trial at a low rate", e: with(func(e *Evidence) { e.Rate, e.FullLength, e.Backlog = 50, false, line(1, 40, 0.9, 0, nil) }), want: Fail, reason: "backlog grows by 0.9/s (allowed 0.5/s)"},
		{name: "a long trial at a low rate", e: with(func(e *Evidence) { e.Rate, e.Backlog = 50, line(5, 40, 0.4, 0, nil) }), want: Fail, reason: "backlog grows by 0.4/s (at least 0.4/s with 95 % confidence; allowed 0.126/s)"},
		{name: "cores unknown", e: with(func(e *Evidence) { e.Generator.UsedCores, e.Generator.Cores = 9, 0 }), want: Pass},
	} {
		rule := DefaultRule(asked)
		if c.rule != nil {
			c.rule(&rule)
		}
		if got := rule.Judge(c.e, c.goal); got.Verdict != c.want || got.Reason.Text != c.reason || got.Broken != c.broken {
			t.Errorf("%s: %+v, want %s %q", c.name, got, c.want, c.reason)
		}
	}
}

// Eight points on whole seconds make a slope without a rounding error.
func TestAGrowthAtTheLimitPasses(t *testing.T) {
	exactly := func(slope float64) []Point {
		var points []Point
		for i := range 8 {
			points = append(points, Point{float64(i), 16 + slope*float64(i)})
		}
		return points
	}
	if g := GrowthOf(exactly(10)); g.Slope != 10 || g.StandardError != 0 {
		t.Fatalf("%+v isn't 10/s", g)
	}
	for _, c := range []struct {
		long   bool
		slope  float64
		reason string
	}{
		{false, 10, ""},
		{true, 10, "backlog grows by 10/s (at least 10/s with 95 % confidence; allowed 1.79/s)"},
		{true, 1.75, ""}, // 12.5 ms of 1,000/s in 7 s are 1.786/s
		{true, 0, ""},
	} {
		e := good()
		e.FullLength, e.Backlog = c.long, exactly(c.slope)
		if look := DefaultRule(asked).Judge(e, Goal{}); look.Reason.Text != c.reason {
			t.Errorf("%g/s, long %v: %q, want %q", c.slope, c.long, look.Reason, c.reason)
		}
	}
}

// A growth that can't be told from noise passes a short trial and fails a long one when it may be too much.
func TestNoiseIsJudgedByTheLengthOfTheTrial(t *testing.T) {
	noisy := line(5, 1e4, 0, 0, nil)
	for i := range noisy {
		noisy[i].Backlog += 60 * math.Pow(-1, float64(i/25)) // each tenth is 60 above or below
	}
	for long, want := range map[bool]Verdict{true: Fail, false: Pass} {
		e := good()
		e.FullLength, e.Backlog = long, noisy
		look := DefaultRule(asked).Judge(e, Goal{})
		if look.Verdict != want {
			t.Errorf("long %v: %+v", long, look)
		}
		if said := look.Reason.String(); long && !strings.HasPrefix(said, "backlog may grow by ") {
			t.Errorf("a backlog that isn't known to grow is said to: %s", said)
		}
	}
	rising := line(1, 0, 20, 0, nil) // above the limit, but not shown to be there
	for i := range rising {
		rising[i].Backlog -= 40 * math.Pow(-1, float64(i/5))
	}
	g := GrowthOf(rising)
	if g.Slope <= 10 || g.AtLeast(0.95) >= 0 {
		t.Fatalf("not what is wanted here: %+v", g)
	}
	e := good()
	e.FullLength, e.Backlog = false, rising
	if look := DefaultRule(asked).Judge(e, Goal{}); look.Verdict != Pass {
		t.Errorf("%+v: %+v", g, look)
	}
}

func TestMoreThanAShareIsLostOnlyWhereItIsShown(t *testing.T) {
	// One-sided 95 % bounds of a Poisson count: with a mean of 0.5, 1, 5 and 20, more than 2, 3, 9 and 28 are rare.
	for all, most := range map[int64]int64{500: 2, 1000: 3, 5000: 9, 20_000: 28} {
		if tooMany(most, all, 0.001) || !tooMany(most+1, all, 0.001) {
			t.Errorf("of %d, at most %d may be lost", all, most)
		}
	}
	testkit.Check(t, func(t *rapid.T) {
		all := rapid.Int64Range(0, 1e6).Draw(t, "all")
		share := rapid.Float64Range(0.0001, 0.5).Draw(t, "share")
		if tooMany(0, all, share) || tooMany(1, all, share) || tooMany(0, all, 0) || !tooMany(1, all, 0) {
			t.Fatal("nothing is never too many, one only where none is allowed")
		}
		if allowed := int64(share * float64(all)); tooMany(allowed, all, share) {
			t.Fatalf("%d of %d are not more than %g", allowed, all, share)
		}
		if n := int64(share*float64(all)*2) + 50; !tooMany(n, all, share) {
			t.Fatalf("%d of %d are more than %g", n, all, share)
		}
	})
}

func TestServedIsTheRateWithoutLossAndGrowth(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Evidence
		want float64
	}{
		{"all", good(), 1000},
		{"a tenth lost", with(func(e *Evidence) { e.Books.Lost = 500 }), 900},
		{"growth", with(func(e *Evidence) { e.Backlog = line(5, 0, 50, 0, nil) }), 950},
		{"growth of four subscriptions", with(func(e *Evidence) { e.Subscriptions, e.Backlog = 4, line(5, 0, 200, 0, nil) }), 950},
		{"both", with(func(e *Evidence) { e.Books.Lost, e.Backlog = 500, line(5, 0, 50, 0, nil) }), 850},
		{"a backlog that shrinks is no gain", with(func(e *Evidence) { e.Backlog = line(5, 1e6, -50, 0, nil) }), 1000},
		{"a backlog that shrinks makes up for no loss", with(func(e *Evidence) { e.Books.Lost, e.Backlog = 500, line(5, 1e6, -50, 0, nil) }), 900},
		{"nothing", with(func(e *Evidence) { e.Backlog = line(5, 0, 1e6, 0, nil) }), 0},
		{"no subscription", with(func(e *Evidence) { e.Subscriptions, e.Books.Expected = 0, 0 }), 1000},
		{"growth of what has no subscription", with(func(e *Evidence) {
			e.Subscriptions, e.Books.Expected, e.Backlog = 0, 0, line(5, 0, 50, 0, nil)
		}), 950},
		{"no backlog known", with(func(e *Evidence) { e.Backlog = nil }), 1000},
	} {
		if got := c.e.Served(); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// known are quantiles of a latency of messages that all came.
func known(quantile func(float64) int64) func(float64) (least, most int64) {
	return func(q float64) (least, most int64) { return quantile(q), quantile(q) }
}

// neverCame are the quantiles if none of the messages had come when they had been waited for so long, in ns.
func neverCame(waited int64) func(float64) (least, most int64) {
	return func(float64) (least, most int64) { return waited, math.MaxInt64 }
}
