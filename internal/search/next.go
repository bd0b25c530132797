package search

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// request is the trial that brings the first goal that isn't answered yet closer to its answer; false when there is
// nothing left to ask, or no trial left to ask it with.
func (s *searcher) request() (Request, bool) {
	if s.inVoid >= voidsInARow {
		return Request{}, false
	}
	for i := range s.Goals {
		if s.trials >= s.MaxTrials*(i+1) {
			continue
		}
		if r, ok := s.next(i); ok && s.affords(i, r) {
			return r, true
		}
	}
	return Request{}, false
}

// affords estimates whether a trial for goal i ends within the budget. A search that has confirmed nothing yet may take as long
// again, and decide the rate that has just passed a long trial: its trials would have been for nothing.
func (s *searcher) affords(i int, r Request) bool {
	budget := s.Budget * time.Duration(i+1)
	if low, _ := s.around(i, func(l *load) Class { return l.class(i, s.Goals[i]) }); low == nil {
		passed := func(l *load) bool { return l.rate == r.Rate && l.goals[i].GoodLong > 0 && l.goals[i].BadLong == 0 }
		if r.Kind == Confirm && slices.ContainsFunc(s.loads, passed) {
			return true
		}
		budget *= 2
	}
	return s.Budget == 0 || s.spent+r.For+s.extra <= budget
}

// next is the trial that goal i needs: bracket, narrow, then decide the lower bound, the upper one, and soak.
func (s *searcher) next(i int) (Request, bool) {
	g := s.Goals[i]
	if l := s.onlyVoid(i); l != nil {
		return s.short(g, l.rate), true
	}
	if s.anySoakFailed(i) {
		return s.soak(i, nil)
	}
	low, high := s.around(i, func(l *load) Class { return l.leans(i, g) })
	if high != nil && high.goals[i].BadLong+high.goals[i].GoodLong > 0 {
		// A long trial that failed, maybe because of a hiccup: nothing is built on it before it has been looked at again.
		if r, ok := s.decide(i, high); ok {
			return r, true
		}
	}
	look, fooled := s.short, s.fooled(i)
	if fooled > 0 { // short trials are too lenient here: from now on only long ones count
		look = func(g Goal, rate float64) Request { return Request{Confirm, rate, g.Final} }
		low, high = s.around(i, func(l *load) Class { return l.withoutLenient(i, g) })
	}
	switch {
	case len(s.loads) == 0:
		return look(g, s.first(g)), true
	case low == nil && s.everBroken(i):
		return Request{}, false
	case low == nil:
		if rate := s.under(i, high, fooled); rate >= s.Floor {
			return look(g, rate), true
		}
		return s.decide(i, high)
	case s.lastTrials(i): // a narrow bracket of which nothing is confirmed is worth nothing
	case high == nil && !s.capped(low.rate):
		return look(g, s.above(i, low)), true
	case high != nil && !within(low.rate, high.rate, g.Width):
		return look(g, s.between(i, low, high)), true
	}
	return s.confirm(i, low, high)
}

// onlyVoid is a rate that is known by too few void trials only, so that it has to be tried again. Where the trial fell behind it
// is not: what came through tells where to look, and whether this rate is the upper bound is decided in the end.
func (s *searcher) onlyVoid(i int) *load {
	for _, l := range s.loads {
		_, fell := l.guess()
		if st := l.goals[i]; st.empty() && st.voids < voidsToPass && !fell {
			return l
		}
	}
	return nil
}

// withoutLenient is the class of a rate where short trials that passed don't count.
func (l *load) withoutLenient(i int, g Goal) Class {
	if c := l.leans(i, g); c == Upper || l.class(i, g) == Lower {
		return c
	}
	return Undecided
}

// confirm asks for the long trials that make a narrow bracket an answer.
func (s *searcher) confirm(i int, low, high *load) (Request, bool) {
	for _, l := range []*load{low, high} {
		if r, ok := s.decide(i, l); ok {
			return r, true
		}
	}
	if g := s.Goals[i]; g.Soak > 0 && low.class(i, g) == Lower {
		return s.soak(i, low)
	}
	return Request{}, false
}

// soak asks for the long trial that is to confirm a rate beyond what shorter ones see, first of all at low. Once one has
// failed only such trials count: what the shorter ones said of lower rates isn't believed either.
func (s *searcher) soak(i int, low *load) (Request, bool) {
	g := s.Goals[i]
	passed, failed := s.around(i, func(l *load) Class { return l.afterSoak(i, g) })
	rate := 0.0
	switch {
	case passed == nil && (failed == nil || !failed.goals[i].soakFailed):
		rate = low.rate
	case passed == nil:
		rate = failed.rate / step(g, far)
		if guess, ok := failed.guess(); ok {
			rate = math.Min(rate, guess/step(g, 0.5))
		}
	case failed != nil && !within(passed.rate, failed.rate, g.Width):
		rate = math.Sqrt(passed.rate * failed.rate)
	}
	return Request{Soak, rate, g.Soak}, rate >= s.Floor
}

// afterSoak is the class of a rate where only a soak makes a lower bound.
func (l *load) afterSoak(i int, g Goal) Class {
	if c := l.class(i, g); c != Lower || l.goals[i].soaked >= g.Soak {
		return c
	}
	return Undecided
}

func (s *searcher) anySoakFailed(i int) bool {
	return slices.ContainsFunc(s.loads, func(l *load) bool { return l.goals[i].soakFailed })
}

// decide asks for a long trial at a rate that has no class yet, unless it can't be measured.
func (s *searcher) decide(i int, l *load) (Request, bool) {
	if l == nil || l.class(i, s.Goals[i]) != Undecided || l.goals[i].voids >= voidsToStop {
		return Request{}, false
	}
	return Request{Confirm, l.rate, s.Goals[i].Final}, true
}

// lastTrials tells that what is left of goal i's trials, or of its time, is needed to confirm a lower bound.
func (s *searcher) lastTrials(i int) bool {
	g := s.Goals[i]
	needed := math.Ceil(float64(g.Sum) * (1 - g.Exceed) / float64(g.Final) * (1 - 1e-9))
	confirmed := s.spent + time.Duration(needed)*(g.Final+s.extra)
	return s.trials+int(needed) >= s.MaxTrials*(i+1) || s.Budget > 0 && confirmed >= s.Budget*time.Duration(i+1)
}

// late tells that half of what goal i may take is over and no rate is confirmed.
func (s *searcher) late(i int) bool {
	low, _ := s.around(i, func(l *load) Class { return l.class(i, s.Goals[i]) })
	return s.Budget > 0 && low == nil && s.spent >= s.Budget*time.Duration(2*i+1)/2
}

// few messages say nothing about a rate: at low rates a short trial lasts longer.
const few = 100

func (s *searcher) short(g Goal, rate float64) Request {
	length := max(s.Short, time.Duration(few/rate*1e9))
	if length >= g.Final {
		return Request{Confirm, rate, g.Final}
	}
	return Request{Short, rate, length}
}

// brokenOver is the ratio of two rates at which a promise was broken from which on the rate is not the cause.
const brokenOver = 8

// everBroken tells whether the promise was broken at rates so far apart that no lower rate is likely to keep it.
func (s *searcher) everBroken(i int) bool {
	var lowest, highest float64
	for _, l := range s.loads {
		if l.goals[i].Broken {
			lowest, highest = cmp.Or(lowest, l.rate), l.rate
		}
	}
	return lowest > 0 && highest >= brokenOver*lowest
}

// Rates are compared in steps of a goal's width. A search without bounds takes larger steps each time.
const (
	leap   = 4    // times the rate is the most that a step is long
	far    = 4    // widths of a first step away from a rate of which nothing is known
	behind = 0.97 // of the rate: a trial that brought less through fell behind
)

func step(g Goal, widths float64) float64 { return math.Pow(1+g.Width, widths) }

// first is where a search begins: a guess that is near is put in the middle of what will be the bracket.
func (s *searcher) first(g Goal) float64 {
	begin := math.Max(s.Begin, s.Floor)
	if s.Near {
		begin /= step(g, 0.5)
	}
	return s.bounded(math.Max(begin, s.Floor))
}

// above is where to look when no rate has failed yet: twice as far as the last step went.
func (s *searcher) above(i int, low *load) float64 {
	g := s.Goals[i]
	least := step(g, far)
	if s.Near {
		least = step(g, 1)
	}
	var before *load
	for _, l := range s.loads {
		if l.rate < low.rate && l.leans(i, g) == Lower {
			before = l
		}
	}
	if before != nil {
		least = math.Max(least, math.Min(math.Pow(low.rate/before.rate, 2), leap))
	}
	return s.bounded(low.rate * least)
}

// under is where to look when no rate has passed yet: a little below what came through meanwhile, where the trial fell
// behind; otherwise twice as far as the last step went. Below a rate at which short trials were fooled it begins with one
// width.
func (s *searcher) under(i int, high *load, fooled int) float64 {
	g := s.Goals[i]
	if guess, ok := high.guess(); ok {
		return math.Max(guess/step(g, 0.5), math.Min(s.Floor, high.rate/2))
	}
	if fooled > 0 {
		widths := math.Pow(2, float64(fooled-1))
		if s.late(i) {
			widths = math.Max(widths, far)
		}
		return high.rate / math.Min(step(g, widths), leap)
	}
	least := step(g, far)
	for _, l := range s.loads {
		if l.rate > high.rate { // the next one up; all of them have failed
			least = math.Max(least, math.Min(math.Pow(l.rate/high.rate, 2), leap))
			break
		}
	}
	return high.rate / least
}

// fooled counts the rates that only long trials found not sustained, if a short one took any of them for sustained.
func (s *searcher) fooled(i int) int {
	n, once := 0, false
	for _, l := range s.loads {
		if t := l.goals[i]; t.BadShort == 0 && t.BadLong > 0 && l.class(i, s.Goals[i]) == Upper {
			n++
			once = once || t.GoodShort > 0
		}
	}
	if !once {
		return 0
	}
	return n
}

// guess is what came through at a rate that was too much for the broker.
func (l *load) guess() (float64, bool) {
	return l.through, l.through > 0 && l.through < behind*l.rate
}

// between is where to look next between two bounds. What came through at the upper one tells where the capacity is: try
// half a width below it, then a whole width above that. Where it doesn't tell, or was refuted, halve the distance on a
// logarithmic scale.
func (s *searcher) between(i int, low, high *load) float64 {
	g := s.Goals[i]
	if guess, ok := high.guess(); ok && guess > low.rate {
		if below := guess / step(g, 0.5); below > low.rate*step(g, 0.1) {
			return below
		}
		if up := low.rate * step(g, 1); up < high.rate/step(g, 0.1) {
			return up
		}
	}
	return math.Sqrt(low.rate * high.rate)
}
