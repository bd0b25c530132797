// Package search finds the highest rates that a broker sustains, by MLRsearch
// (draft-ietf-bmwg-mlrsearch) as docs/method.md describes it. A search answers goals: up to which
// rate does the broker keep these bounds? Run chooses the rates and calls a function that runs one
// trial, Rule.Judge judges a trial for a goal, and Goal.Class sums up the trials at one rate.
//
// For example, a goal with a width of 5 % is searched from 10,000/s on. Short trials pass at 10,000,
// 12,155 and 17,959/s, each step twice as wide as the one before. At 39,201/s the trial fails, and
// 35,000/s came through meanwhile. So the next one is half a width below that, at 34,157/s, and
// passes; the one a width above, at 35,864/s, fails. This bracket is narrow, and long trials decide
// its ends: those at 34,157/s pass, and those at 35,864/s, after another short one, fail. These rates are the answer.
package search

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
)

// Kind is what a trial is for.
type Kind string

// The kinds of trials.
const (
	Probe   Kind = "probe"   // a closed loop that finds the rate to begin at; Run never asks for one
	Short   Kind = "short"   // brackets the capacity and narrows the bracket
	Confirm Kind = "confirm" // a long trial, of a goal's FinalDuration: decides whether a rate is a bound
	Soak    Kind = "soak"    // confirms a lower bound for longer than caches last
)

// Request asks for one trial.
type Request struct {
	Kind Kind
	Rate float64 // messages per second
	For  time.Duration
}

// Answer is the outcome of a trial.
type Answer struct {
	Judgements []Judgement   // exactly one for each goal, in the order of Plan.Goals
	Served     float64       // messages per second that came through in the end (Evidence.Served); a result
	Through    float64       // rate that came through while sending: guides the next trial; 0: none, or not known
	CameLate   bool          // messages that the trial before missed came during this one: they were late, so that no promise was broken
	Took       time.Duration // from warm-up to the end of the drain; 0: not known
}

// Plan says what to search for, and how. Rates are in messages per second.
type Plan struct {
	Goals     []Goal
	Begin     float64       // where to begin; only a guess
	Short     time.Duration // length of trials that only look for where the bounds may be
	MaxTrials int           // for each goal; void trials don't count, up to the same number
	Budget    time.Duration // for each goal: how long trials may take, twice that until a rate is confirmed; 0: no bound
	MaxRate   float64       // 0: no bound
	Floor     float64       // give up below this rate; above 0
}

// Bounds answer one goal, by MLRsearch's definitions. Rates are in messages per second.
type Bounds struct {
	// Low is the relevant lower bound: the highest rate below High that the goal accepts. 0: none.
	Low float64
	// High is the relevant upper bound: the lowest rate that the goal rejects. If there is none it is the lowest rate above
	// Low that failed in trials too short to count, and Undecided says so. 0: no such rate, or no Low to begin from.
	High        float64
	Held        time.Duration // length of the longest trial that passed at Low
	Conditional float64       // conditional throughput at Low: what came through at least, in all but the worst of the time
	Undecided   remark.Remark // why a bound is unknown, or the two are wider apart than asked; empty otherwise
	Void        string        // why rates above Low could not be measured; "" otherwise
}

// Result answers all goals.
type Result struct {
	Goals  []Bounds // in the order of Plan.Goals
	Trials int
}

// Run searches until all goals are answered, or the trials or the budget are used up. Every trial
// counts for every goal. run runs one trial, drained, and blocks until it is over; its error ends the
// search, and so does ctx. The result holds bounds for every goal in any case.
func Run(ctx context.Context, p Plan, run func(context.Context, Request) (Answer, error)) (Result, error) {
	s := newSearcher(p)
	for {
		r, ok := s.request()
		if !ok {
			return s.result(), nil
		}
		if err := ctx.Err(); err != nil {
			return s.result(), err
		}
		a, err := run(ctx, r)
		s.trials++
		s.spent += a.Took
		if err != nil {
			return s.result(), err
		}
		if len(a.Judgements) != len(p.Goals) {
			return s.result(), fmt.Errorf("internal error: a trial was judged for %d of %d goals", len(a.Judgements), len(p.Goals))
		}
		s.add(r, a)
	}
}

// searcher is a search under way: the searches for its goals, and what they share.
type searcher struct {
	plan        Plan
	goals       []*goalSearch // in the order of Plan.Goals
	trials      int           // number of trials that were run
	voids       int           // number of these that were void for every goal
	voidsInARow int           // how many of the last trials were void for every goal
	spent       time.Duration // the time that all trials took
	overhead    time.Duration // warm-up and drain of the last trial that passed
}

func newSearcher(p Plan) *searcher {
	s := &searcher{plan: p}
	for i, goal := range p.Goals {
		n := i + 1 // a goal may use what those before it have left
		s.goals = append(s.goals, &goalSearch{
			search: s, goal: goal, maxTrials: n * p.MaxTrials, maxTime: time.Duration(n) * p.Budget,
		})
	}
	return s
}

// request returns the trial that brings the first unanswered goal closer to its answer; false if all
// goals are answered, or if no trials are left.
func (s *searcher) request() (Request, bool) {
	for _, g := range s.goals {
		if g.trialsLeft() <= 0 || s.onlyVoids() && !g.anyPassed() {
			continue
		}
		if r, ok := g.next(); ok && g.affords(r) {
			return r, true
		}
	}
	return Request{}, false
}

// onlyVoids reports whether so many trials in a row were void that looking for further rates is pointless.
func (s *searcher) onlyVoids() bool { return s.voidsInARow >= maxVoidsInARow }

// add adds a trial to what each goal knows of its rate.
func (s *searcher) add(r Request, a Answer) {
	anyBroken, anyPassed, allVoid := false, false, true // of the goals
	for _, j := range a.Judgements {
		anyBroken = anyBroken || j.Broken
		anyPassed = anyPassed || j.Verdict == Pass
		allVoid = allVoid && j.Verdict == Void
	}
	if anyBroken { // lost messages don't come through either, but that says nothing about a capacity
		a.Through = 0
	}
	if anyPassed {
		s.overhead = max(0, a.Took-r.For)
	}
	for i, g := range s.goals {
		g.add(r, a, a.Judgements[i])
	}
	if allVoid {
		s.voids++
		s.voidsInARow++
	} else {
		s.voidsInARow = 0
	}
}

func (s *searcher) result() Result {
	r := Result{Trials: s.trials}
	for _, g := range s.goals {
		r.Goals = append(r.Goals, g.bounds())
	}
	return r
}

// capped reports whether a rate is the highest that may be tried.
func (s *searcher) capped(rate float64) bool { return s.plan.MaxRate > 0 && rate >= s.plan.MaxRate }

// limited returns a rate, or the highest that may be tried if that is lower.
func (s *searcher) limited(rate float64) float64 {
	if s.capped(rate) {
		return s.plan.MaxRate
	}
	return rate
}

// rounding is far more than the relative error of a few floating-point operations, and far less than any width.
const rounding = 1e-9

// within reports whether high is at most a share of width above low, but for rounding. At 0.05, 10,500/s is within 5 % of
// 10,000/s.
func within(low, high, width float64) bool { return high <= low*(1+width)*(1+rounding) }
