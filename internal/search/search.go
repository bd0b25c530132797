package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Kind is what a trial is for.
type Kind string

// The kinds of trials.
const (
	Probe   Kind = "probe"   // closed loop, before the search: where to begin
	Short   Kind = "short"   // brackets and bisects
	Confirm Kind = "confirm" // of full length: what counts
	Soak    Kind = "soak"    // confirms for longer than any cache lasts
)

// Request asks for one trial.
type Request struct {
	Kind Kind
	Rate float64
	For  time.Duration
}

// Answer is the outcome of a trial.
type Answer struct {
	Judgements []Judgement   // one for each goal, in their order
	Served     float64       // messages per second that came through, by the books; at most the rate
	Through    float64       // messages per second that came through while the trial was sending; 0: not known
	Took       time.Duration // from warm-up to the end of the drain; 0: not known
}

// Plan says what to search for, and how.
type Plan struct {
	Goals     []Goal
	Begin     float64       // where to begin; only a guess
	Near      bool          // the guess is likely to be right within a few widths
	Short     time.Duration // length of trials that only look for where the bounds may be
	MaxTrials int           // for each goal
	Budget    time.Duration // for each goal: no trial begins that would end later, unless nothing is confirmed; 0: no bound
	MaxRate   float64       // 0: no bound
	Floor     float64       // give up below this rate; above 0
}

// Bounds answer one goal, by MLRsearch's definitions.
type Bounds struct {
	// Low is the relevant lower bound: the highest rate that the goal accepts. 0: there is none.
	Low float64
	// High is the relevant upper bound. Where there is none it is the lowest rate that failed in trials too short to count,
	// and Undecided says so. 0: no trial failed.
	High        float64
	Conditional float64 // throughput at Low
	Undecided   string  // why a bound is unknown, or the two are wider apart than asked; "" otherwise
	Void        string  // why rates above Low could not be measured; "" otherwise
}

// Result answers all goals, in their order.
type Result struct {
	Goals  []Bounds
	Trials int
}

// Run searches until all goals are answered, or the trials or the budget are used up. Every trial counts for every goal.
// run runs one trial, drained, and blocks until it is over; its error ends the search, and so does ctx. The result holds
// bounds for every goal in any case.
func Run(ctx context.Context, p Plan, run func(context.Context, Request) (Answer, error)) (Result, error) {
	s := &searcher{Plan: p}
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
		s.book(r, a)
	}
}

// load is a rate that was tried.
type load struct {
	rate    float64
	goals   []standing // in the order of Plan.Goals
	through float64    // Answer.Through of the last trial; 0: not known
}

// standing is what is known of a rate for one goal.
type standing struct {
	Tally
	long       []served      // trials of full length that were not void
	soaked     time.Duration // length of the longest trial that passed
	soakFailed bool
	voids      int    // number of void trials
	voidReason string // of the last of them
}

// searcher is a search under way. Goals are referred to by their index i in Plan.Goals.
type searcher struct {
	Plan
	loads  []*load       // in the order of their rates; no two have the same
	trials int           // how many were run
	inVoid int           // how many of the last trials were void for every goal, in a row
	spent  time.Duration // the time that all trials took
	extra  time.Duration // how much longer than its load the last trial that passed took: warm-up and drain
}

// at returns the load of a rate; a new one if the rate was not tried yet.
func (s *searcher) at(rate float64) *load {
	i, found := slices.BinarySearchFunc(s.loads, rate, func(l *load, r float64) int {
		switch {
		case l.rate < r:
			return -1
		case l.rate > r:
			return 1
		}
		return 0
	})
	if !found {
		s.loads = slices.Insert(s.loads, i, &load{rate: rate, goals: make([]standing, len(s.Goals))})
	}
	return s.loads[i]
}

// book adds a trial to what is known of its rate.
func (s *searcher) book(r Request, a Answer) {
	l := s.at(r.Rate)
	void := true
	l.through = a.Through
	for i, g := range s.Goals {
		judgement := a.Judgements[i]
		st := &l.goals[i]
		st.add(g, r.For, judgement)
		if judgement.Verdict == Void {
			st.voids++
			st.voidReason = judgement.Reason
			continue
		}
		void = false
		if judgement.Broken { // lost messages don't come through either, but that says nothing about a capacity
			l.through = 0
		}
		if r.For >= g.Final {
			st.long = append(st.long, served{a.Served, r.For})
		}
		switch {
		case judgement.Verdict == Pass:
			st.soaked = max(st.soaked, r.For)
			s.extra = max(0, a.Took-r.For)
		case r.Kind == Soak:
			st.soakFailed = true
		}
	}
	if s.inVoid++; !void {
		s.inVoid = 0
	}
}

// A void trial says nothing about its rate: the generator, or another process, was in the way. So the rate is tried again.
const (
	voidsToPass = 2 // void trials of a rate before another rate is tried
	voidsToStop = 4 // void trials of a rate before it counts as not sustained
	voidsInARow = 8 // void trials of any rates before the search ends
)

// class returns the class of a rate for goal i.
func (l *load) class(i int, g Goal) Class { return g.Class(l.goals[i].Tally) }

// leans returns the class of a rate for goal i, or its likely class while its trials don't decide. A rate without trials that
// count, because all were void, leans towards Upper.
func (l *load) leans(i int, g Goal) Class {
	if c := l.class(i, g); c != Undecided {
		return c
	}
	if st := l.goals[i]; st.empty() || st.voids >= voidsToStop {
		return Upper
	}
	return l.goals[i].leans()
}

// around returns the lowest rate whose class is Upper, and the highest rate below it whose class is Lower; nil if there is
// none. class says what counts as a class: the strict one, or one of those that only guess where to look next.
func (s *searcher) around(class func(*load) Class) (low, high *load) {
	for _, l := range s.loads {
		switch class(l) {
		case Upper:
			return low, l
		case Lower:
			low = l
		case Undecided:
		}
	}
	return low, nil
}

// result reads the bounds off the rates that are decided.
func (s *searcher) result() Result {
	r := Result{Trials: s.trials}
	for i := range s.Goals {
		r.Goals = append(r.Goals, s.bounds(i))
	}
	return r
}

// bounds returns the answer to goal i as far as it is known.
func (s *searcher) bounds(i int) Bounds {
	g := s.Goals[i]
	low, high := s.around(func(l *load) Class { return l.class(i, g) })
	if s.anySoakFailed(i) {
		low, high = s.around(func(l *load) Class { return l.afterSoak(i, g) })
	}
	var b Bounds
	if low != nil {
		b.Low, b.Conditional = low.rate, g.conditional(low.goals[i].long)
	}
	for _, l := range s.loads {
		if st := l.goals[i]; st.voids > 0 && l.rate > b.Low && (high == nil || l.rate < high.rate) && l.class(i, g) == Undecided {
			b.Void = fmt.Sprintf("at %.0f/s: %s", l.rate, st.voidReason)
			break
		}
	}
	if high != nil {
		b.High = high.rate
	}
	b.Undecided = s.undecided(i, b)
	if l := s.failedShort(i, b.Low); high == nil && l != nil {
		b.High = l.rate
	}
	return b
}

// failedShort returns the lowest rate above a lower bound whose trials so far failed; nil if there is none. bounds asks for it
// if no rate is an upper bound, so those trials were too short, or too few, to count.
func (s *searcher) failedShort(i int, low float64) *load {
	for _, l := range s.loads {
		if st := l.goals[i]; l.rate > low && low > 0 && !st.empty() && st.leans() == Upper {
			return l
		}
	}
	return nil
}

// undecided says why goal i is not answered by its bounds; empty if it is.
func (s *searcher) undecided(i int, b Bounds) string {
	g := s.Goals[i]
	after := fmt.Sprintf("%d trials", s.trials)
	if s.trials == 1 {
		after = "1 trial"
	}
	if s.Budget > 0 {
		after += fmt.Sprintf(" and %s", s.spent.Round(time.Second))
	}
	passed, _ := s.around(func(l *load) Class { return l.leans(i, g) })
	why := ""
	switch {
	case b.Low == 0 && passed != nil:
		why = fmt.Sprintf("%.0f/s passed, but no rate was confirmed within %s", passed.rate, after)
	case b.Low == 0:
		why = "no rate passed"
	case s.at(b.Low).goals[i].soaked < g.Soak:
		why = fmt.Sprintf("%.0f/s was not soaked for %s within %s", b.Low, g.Soak, after)
	case s.capped(b.Low), b.High > 0 && within(b.Low, b.High, g.Width):
		return ""
	case b.High == 0 && b.Void == "" && s.failedShort(i, b.Low) != nil:
		why = fmt.Sprintf("stopped after %s, when only trials too short to count had failed, at %.0f/s", after, s.failedShort(i, b.Low).rate)
	case b.High == 0 && b.Void == "":
		why = fmt.Sprintf("stopped after %s before any rate failed", after)
	case b.Void == "":
		why = fmt.Sprintf("stopped after %s before the bounds were within %g %%", after, g.Width*100)
	}
	if b.Void == "" {
		return why
	}
	if why != "" {
		why += "; "
	}
	return why + "void " + b.Void
}

// capped reports whether a rate is the highest that may be tried.
func (s *searcher) capped(rate float64) bool { return s.MaxRate > 0 && rate >= s.MaxRate }

// rounding is far more than the relative error of a few floating-point operations, and far less than any width.
const rounding = 1e-9

// within reports whether two rates are no further apart than width, but for rounding.
func within(low, high, width float64) bool { return high <= low*(1+width)*(1+rounding) }

// bounded returns a rate, or the highest that may be tried if that is lower.
func (s *searcher) bounded(rate float64) float64 {
	if s.MaxRate > 0 {
		return math.Min(rate, s.MaxRate)
	}
	return rate
}
