package search

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// slowBetween is a broker of 90,000/s that keeps the latency bound below a rate and above another one, but not between them.
func slowBetween(from, to float64) func(Request) Judgement {
	return func(r Request) Judgement {
		switch {
		case r.Rate > 90_000:
			return Judgement{Verdict: Fail, Reason: "backlog"}
		case r.Rate > from && r.Rate < to:
			return Judgement{Verdict: Fail, Reason: "latency", OnlyLatency: true}
		}
		return Judgement{Verdict: Pass}
	}
}

// judged makes an answer for one goal from a judgement. At most 90,000/s come through.
func judged(judge func(Request) Judgement) func(context.Context, Request) (Answer, error) {
	return func(_ context.Context, r Request) (Answer, error) {
		through := math.Min(r.Rate, 90_000)
		return Answer{Judgements: []Judgement{judge(r)}, Served: through, Through: through}, nil
	}
}

// A broker whose batches grow with the rate keeps a latency bound up to 35,000/s and again from 60,000/s on.
func TestAPassingRateFarAboveALatencyFailureIsNamed(t *testing.T) {
	named := 0
	rng := rand.New(rand.NewPCG(3, 14))
	for range 200 {
		q := &queue{
			capacity: 90_000, latency: 2 * time.Millisecond, subscriptions: 1, rng: rng,
			slowFrom: 35_000, slowTo: 60_000,
		}
		p := planFor(confirmed(2, 0))
		p.Goals[0].Latency, p.Goals[0].Quantile = 100*time.Millisecond, 0.99
		p.Begin = 1000 * math.Pow(50, rng.Float64())
		r, err := Run(t.Context(), p, q.answer(p.Goals))
		b := r.Goals[0]
		switch {
		case err != nil:
			t.Fatal(err)
		case b.Low > 85_000: // its steps went past the slow rates
		case b.Low > 35_000 || b.High < 35_000 || b.High > 1.051*b.Low || b.PassedAbove < 60_000 || b.Undecided.Text != "":
			t.Errorf("from %.0f/s: %+v", p.Begin, b)
		default:
			named++
		}
	}
	if named < 50 {
		t.Errorf("%d of 200 searches ended below the slow rates: too few to show anything", named)
	}
}

func TestOneLatencyFailureBelowAPassingRateEndsNothing(t *testing.T) {
	for _, begin := range []float64{5000, 20_000, 50_000} {
		slow, trials := 0, 0
		p := planFor(confirmed(2, 0))
		p.Begin = begin
		r, err := Run(t.Context(), p, judged(func(r Request) Judgement {
			if trials++; trials == 2 {
				slow++
				return Judgement{Verdict: Fail, Reason: "latency", OnlyLatency: true}
			}
			return slowBetween(0, 0)(r)
		}))
		if b := r.Goals[0]; err != nil || slow != 1 || b.Low > 90_000 || b.High < 90_000 || b.PassedAbove != 0 || b.Undecided.Text != "" {
			t.Errorf("from %.0f/s: %+v, %v", begin, b, err)
		}
	}
}

// Whatever keeps the bound up to some rate and never above it costs at most one short trial more than it would have.
func TestLookingFarAboveCostsOneShortTrialAtMost(t *testing.T) {
	looked := 0
	for _, slowFrom := range []float64{15_000, 40_000, 70_000, 88_000} {
		for begin := 500.0; begin < 300_000; begin *= 1.3 {
			trials := func(slow bool) int {
				p := planFor(confirmed(2, 0))
				p.Begin = begin
				r, err := Run(t.Context(), p, judged(func(r Request) Judgement {
					j := slowBetween(slowFrom, math.Inf(1))(r)
					j.OnlyLatency = j.OnlyLatency && slow
					return j
				}))
				b := r.Goals[0]
				if err != nil || b.Low > slowFrom || b.High < slowFrom || b.PassedAbove != 0 || b.Undecided.Text != "" {
					t.Errorf("slow from %.0f/s, begun at %.0f/s: %+v, %v", slowFrom, begin, b, err)
				}
				return r.Trials
			}
			without, with := trials(false), trials(true)
			if with > without+1 {
				t.Errorf("slow from %.0f/s, begun at %.0f/s: %d trials instead of %d", slowFrom, begin, with, without)
			}
			looked += with - without
		}
	}
	if looked == 0 {
		t.Error("no search looked far above: the test shows nothing")
	}
}

func TestNoRateAboveTheHighestAllowedIsTriedToSeeWhetherItPasses(t *testing.T) {
	p := planFor(confirmed(2, 0))
	p.Begin, p.MaxRate = 10_000, 50_000
	highest := 0.0
	r, err := Run(t.Context(), p, judged(func(r Request) Judgement {
		highest = max(highest, r.Rate)
		return slowBetween(35_000, 45_000)(r)
	}))
	if b := r.Goals[0]; err != nil || highest != 50_000 || b.PassedAbove != 50_000 && b.Low != 50_000 {
		t.Errorf("tried up to %.0f/s: %+v, %v", highest, b, err)
	}
}
