package search

import (
	"math"
	"slices"
	"time"
)

// A void trial says nothing about its rate: the generator, or another process, was in the way. So the rate is tried again.
const (
	voidsToMoveOn  = 2 // void trials of a rate before another rate is tried
	maxVoids       = 4 // void trials of a rate before it counts as not sustained
	maxVoidsInARow = 8 // void trials of any rates before the search ends
)

// next returns the trial that the goal needs; false if it needs none. The first of these that applies chooses it:
//
//  1. Once a soak has failed, only soaks follow: shorter trials have proved too lenient.
//  2. A rate whose trials were all void is tried again.
//  3. An upper end that failed a long trial, or below a rate that passed, is decided: its failure may have been a hiccup.
//  4. Trials bracket the capacity: one rate that passed, and a higher one that failed.
//  5. More of them narrow the bracket to the goal's width. If only its latency made the upper end fail, one of them tries a rate
//     far above it.
//  6. Long trials decide the two ends, and a soak confirms the lower one.
func (q question) next() (Request, bool) {
	if q.anySoakFailed() {
		return q.soak(nil)
	}
	if l := q.voidToRetry(); l != nil {
		return q.explore(l.rate), true
	}
	low, high := q.bracket(q.believed)
	if high != nil && (q.triedLong(high) || q.passedAbove(high) != nil) {
		if r, ok := q.decide(high); ok {
			return r, true
		}
	}
	switch {
	case len(q.search.loads) == 0:
		return q.explore(q.first()), true
	case low == nil: // then high is not nil: some rate is Upper, because all are believed to be, or because a long trial refuted one
		return q.lower(high)
	case q.lastTrials(): // a narrow bracket is worth nothing if neither end is confirmed
		return q.confirm(low, high)
	case high == nil && q.search.capped(low.rate):
		return q.confirm(low, nil)
	case high == nil:
		return q.explore(q.above(low)), true
	}
	return q.narrow(low, high)
}

// explore returns a trial that looks where the capacity may be: a short one, or a long one once long trials have refuted short ones.
func (q question) explore(rate float64) Request {
	if q.refuted() > 0 {
		return q.long(rate)
	}
	return q.short(rate)
}

// lower returns a trial at a lower rate than all that failed. If no lower rate is worth a trial, the lowest that failed is decided; it
// is not if the broker breaks its promise at every rate.
func (q question) lower(high *load) (Request, bool) {
	if q.everBroken() {
		return Request{}, false
	}
	if rate := q.under(high); rate >= q.search.Floor {
		return q.explore(rate), true
	}
	return q.decide(high)
}

// narrow returns a trial within a bracket that is wider than the goal's width, or the one far above it; otherwise the long trials
// that confirm the bracket.
func (q question) narrow(low, high *load) (Request, bool) {
	if rate, ok := q.farAbove(low, high); ok {
		return q.short(rate), true
	}
	if !within(low.rate, high.rate, q.goal.Width) {
		return q.explore(q.between(low, high)), true
	}
	return q.confirm(low, high)
}

// maxTrials is how many trials of the search may have been run for this goal: each further goal may use as many as the first.
func (q question) maxTrials() int { return q.search.MaxTrials * (q.index + 1) }

// usedTrials is how many of them are used up. Void trials don't count, since they say nothing about the broker; but no more than
// maxTrials of them, so that a search whose trials are all void ends as well.
func (q question) usedTrials() int {
	return q.search.trials - min(q.search.voids, q.maxTrials())
}

// budget is the time that all trials up to this goal may take; 0: no bound.
func (q question) budget() time.Duration { return q.search.Budget * time.Duration(q.index+1) }

// affords estimates whether a trial ends within the budget. A search that has confirmed nothing yet may take twice the budget.
// After that it may still decide the rate that has just passed a long trial; otherwise all its trials would have been for
// nothing.
func (q question) affords(r Request) bool {
	budget := q.budget()
	if budget == 0 {
		return true
	}
	if low, _ := q.bracket(q.class); low == nil {
		passedLong := func(l *load) bool {
			t := q.history(l).Tally
			return l.rate == r.Rate && t.GoodLong > 0 && t.BadLong == 0
		}
		if r.Kind == Confirm && slices.ContainsFunc(q.search.loads, passedLong) {
			return true
		}
		budget *= 2
	}
	return q.search.spent+r.For+q.search.overhead <= budget
}

// lastTrials reports whether the goal needs all trials that it has left, or all the time, to confirm a lower bound.
func (q question) lastTrials() bool {
	g := q.goal
	// How many good full-length trials make a lower bound (Goal.Class): 15.15 s × 0.66 / 5 s = 2. The result is a whole number but
	// for rounding, which must not make it one more.
	needed := math.Ceil(float64(g.Sum) * (1 - g.Exceed) / float64(g.Final) * (1 - rounding))
	confirmed := q.search.spent + time.Duration(needed)*(g.Final+q.search.overhead)
	return q.usedTrials()+int(needed) >= q.maxTrials() || q.budget() > 0 && confirmed >= q.budget()
}

// voidToRetry returns a load whose trials were all void, and fewer than voidsToMoveOn; nil if there is none. A load that fell
// behind is not tried again: the rate that came through says where to look next, and long trials decide in the end whether
// this one is the upper bound.
func (q question) voidToRetry() *load {
	for _, l := range q.search.loads {
		_, fellBehind := l.capacity()
		if h := q.history(l); h.empty() && h.voids < voidsToMoveOn && !fellBehind {
			return l
		}
	}
	return nil
}

// minMessages is the least number of messages that say something about a rate. At low rates a short trial lasts longer for it.
const minMessages = 100

// short returns a short trial at a rate; a long one if it would have to be as long.
func (q question) short(rate float64) Request {
	length := max(q.search.Short, time.Duration(minMessages/rate*1e9))
	if length >= q.goal.Final {
		return q.long(rate)
	}
	return Request{Kind: Short, Rate: rate, For: length}
}

// long returns a full-length trial at a rate.
func (q question) long(rate float64) Request {
	return Request{Kind: Confirm, Rate: rate, For: q.goal.Final}
}

func (q question) triedLong(l *load) bool { return q.history(l).GoodLong+q.history(l).BadLong > 0 }

// decide returns a long trial at a rate that has no class yet; false if it has one, if l is nil, or if too many trials there
// were void.
func (q question) decide(l *load) (Request, bool) {
	if l == nil || q.class(l) != Undecided || q.history(l).voids >= maxVoids {
		return Request{}, false
	}
	return q.long(l.rate), true
}

// confirm returns the long trials that turn a narrow bracket into an answer, one by one. high is nil if no rate failed.
func (q question) confirm(low, high *load) (Request, bool) {
	for _, l := range []*load{low, high} {
		if r, ok := q.decide(l); ok {
			return r, true
		}
	}
	if q.goal.Soak > 0 && q.class(low) == Lower {
		return q.soak(low)
	}
	return Request{}, false
}

// soak returns the very long trial that is to confirm a rate, first of all low. Once one has failed, only such trials count:
// shorter ones are not believed for lower rates either. From then on low is nil.
func (q question) soak(low *load) (Request, bool) {
	passed, failed := q.bracket(q.afterSoak)
	var rate float64
	switch {
	case passed != nil && (failed == nil || within(passed.rate, failed.rate, q.goal.Width)):
		return Request{}, false
	case passed != nil:
		rate = math.Sqrt(passed.rate * failed.rate)
	case low != nil:
		rate = low.rate
	case failed == nil: // the rate whose soak failed has passed one since, but other trials leave it undecided
		return Request{}, false
	default:
		rate = failed.rate / q.step(firstStep)
		if guess, fellBehind := failed.capacity(); fellBehind {
			rate = math.Min(rate, guess/q.step(halfWidth))
		}
	}
	if slices.ContainsFunc(q.search.loads, func(l *load) bool { return l.rate == rate && q.history(l).voids >= maxVoids }) {
		return Request{}, false
	}
	return Request{Kind: Soak, Rate: rate, For: q.goal.Soak}, rate >= q.search.Floor
}
