package search

import (
	"context"
	"fmt"
	"math"
)

// Kind is what a trial is for.
type Kind string

// The kinds of trials, in the order they are first used.
const (
	Probe   Kind = "probe"   // closed loop: where to begin
	Short   Kind = "short"   // brackets and bisects
	Confirm Kind = "confirm" // long: what counts
)

// Request asks for one trial. Rate is ignored for a probe.
type Request struct {
	Kind Kind
	Rate float64
}

// Answer is what a trial gave.
type Answer struct {
	Verdict    Verdict
	Reason     string
	Throughput float64 // messages per second that came through, for a probe and as a hint after a failure
}

// Goal is when to stop.
type Goal struct {
	Width     float64 // highest passing and lowest failing rate within this share of each other
	Confirms  int     // long trials that must pass at the result
	MaxTrials int     // all trials together
	MaxRate   float64 // 0: no bound
	Floor     float64 // give up below this rate
}

// Result brackets the sustainable rate. Low is 0 when no rate was confirmed, High is 0 when none failed.
type Result struct {
	Low, High float64
	Trials    int
	// Incomplete says why the bracket is wider than asked, or not confirmed; "" otherwise.
	Incomplete string
}

// Sustainable searches. It begins with a closed-loop probe, brackets by doubling, bisects on a logarithmic scale with
// short trials and confirms with long ones; a confirmation that fails becomes the new upper end, and from then on only
// long trials count. A void trial is
// repeated once; a second void at the same rate ends the search from above as a failure would, and is reported.
// run blocks for one trial and drains before it returns; its error ends the search.
func Sustainable(ctx context.Context, g Goal, run func(context.Context, Request) (Answer, error)) (Result, error) {
	s := &searcher{goal: g, run: run}
	if err := s.bracket(ctx); err != nil {
		return s.result(), err
	}
	if err := s.bisect(ctx, Short); err != nil {
		return s.result(), err
	}
	for s.low > 0 && !s.spent() {
		ok, err := s.confirm(ctx)
		if err != nil {
			return s.result(), err
		}
		if !ok {
			continue // at the rate it fell back to
		}
		if s.narrow() || s.spentShort() {
			break
		}
		// A confirmation failed on the way: short trials have shown that they are too lenient here.
		if err := s.bisect(ctx, Confirm); err != nil {
			return s.result(), err
		}
	}
	return s.result(), nil
}

type searcher struct {
	goal      Goal
	run       func(context.Context, Request) (Answer, error)
	trials    int
	low, high float64
	confirmed float64
	void      string
	falls     int // confirmations that failed
}

func (s *searcher) spent() bool { return s.trials >= s.goal.MaxTrials }

// spentShort keeps trials back for one confirmation: a narrow bracket that nothing confirmed is worth nothing.
func (s *searcher) spentShort() bool { return s.trials+max(1, s.goal.Confirms) >= s.goal.MaxTrials }

func (s *searcher) try(ctx context.Context, kind Kind, rate float64) (Answer, error) {
	for attempt := 0; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return Answer{}, err
		}
		a, err := s.run(ctx, Request{kind, rate})
		s.trials++
		if err != nil || a.Verdict != Void {
			return a, err
		}
		if attempt == 1 || s.spent() {
			s.void = fmt.Sprintf("at %.0f/s %s", rate, a.Reason)
			return Answer{Verdict: Fail, Reason: a.Reason, Throughput: a.Throughput}, nil
		}
	}
}

// bracket finds a rate that passes and one, at most twice as high, that fails.
func (s *searcher) bracket(ctx context.Context) error {
	probe, err := s.try(ctx, Probe, 0)
	if err != nil {
		return err
	}
	rate := s.bounded(max(probe.Throughput, s.goal.Floor))
	for !s.spentShort() {
		a, err := s.try(ctx, Short, rate)
		if err != nil {
			return err
		}
		switch {
		case a.Verdict == Pass:
			s.low = rate
			if s.high > 0 || rate == s.goal.MaxRate {
				return nil
			}
			rate = s.bounded(2 * rate)
		default:
			s.high = rate
			if s.low > 0 {
				return nil
			}
			rate = s.below(rate, a.Throughput)
			if rate < s.goal.Floor {
				return nil
			}
		}
	}
	return nil
}

// below is where to look after a failure with nothing passing yet: what came through meanwhile is a good guess where
// it is a plausible one, half the rate otherwise.
func (s *searcher) below(rate, through float64) float64 {
	if guess := 0.95 * through; guess > rate/2 && guess < 0.98*rate {
		return guess
	}
	return rate / 2
}

func (s *searcher) bounded(rate float64) float64 {
	if s.goal.MaxRate > 0 {
		return min(rate, s.goal.MaxRate)
	}
	return rate
}

func (s *searcher) narrow() bool { return s.high == 0 || s.high <= s.low*(1+s.goal.Width) }

func (s *searcher) bisect(ctx context.Context, kind Kind) error {
	for s.low > 0 && !s.narrow() && !s.spentShort() {
		rate := math.Sqrt(s.low * s.high)
		a, err := s.try(ctx, kind, rate)
		if err != nil {
			return err
		}
		if a.Verdict == Pass {
			s.low = rate
			if kind == Confirm && s.goal.Confirms <= 1 {
				s.confirmed = rate
			}
		} else {
			s.high = rate
		}
	}
	return nil
}

// confirm repeats long trials at the lower end. When one fails, the lower end falls back below it.
func (s *searcher) confirm(ctx context.Context) (bool, error) {
	if s.confirmed == s.low {
		return true, nil
	}
	for range max(1, s.goal.Confirms) {
		if s.spent() {
			return false, nil
		}
		a, err := s.try(ctx, Confirm, s.low)
		if err != nil {
			return false, err
		}
		if a.Verdict != Pass {
			s.high = s.low
			s.low = s.fallback()
			return false, nil
		}
	}
	s.confirmed = s.low
	return true, nil
}

// fallback is a rate to stand on below one that failed its confirmation: a step of the goal width, twice as many
// steps each time.
func (s *searcher) fallback() float64 {
	rate := s.high / math.Pow(1+s.goal.Width, float64(int(1)<<s.falls))
	s.falls++
	if rate < s.goal.Floor {
		return 0
	}
	return max(rate, s.confirmed)
}

func (s *searcher) result() Result {
	r := Result{Low: s.confirmed, High: s.high, Trials: s.trials}
	switch {
	case s.confirmed == 0 && s.low > 0:
		r.Incomplete = fmt.Sprintf("%.0f/s passed a short trial but no rate was confirmed within %d trials", s.low, s.trials)
	case s.confirmed == 0:
		r.Incomplete = "no rate passed"
	case s.high > s.confirmed*(1+s.goal.Width)*(1+1e-9):
		r.Incomplete = fmt.Sprintf("stopped after %d trials before the bracket was narrow enough", s.trials)
	}
	if s.void != "" {
		r.Incomplete = joined(r.Incomplete, "the upper end is a void trial: "+s.void)
	}
	return r
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
