package search

import (
	"slices"
	"time"
)

// A void trial says nothing about its rate: the generator, or another process, was in the way. So the
// rate is tried again.
const (
	voidsToMoveOn  = 2 // void trials at a rate, if it had no others, before another rate is tried
	maxVoids       = 4 // void trials at a rate before it is given up
	maxVoidsInARow = 8 // void trials in a row, at whatever rates, before the search ends
)

// next returns the trial that the goal needs; false if it needs none. Exploring trials find a rate that
// passed and a higher one that failed, and narrow this bracket to the goal's width. Then long trials
// decide its two ends, and a soak confirms the lower one. The first case that applies chooses. The example
// in the package comment shows a whole search.
func (g *goalSearch) next() (Request, bool) {
	low, high := g.bracket(g.trustedClass)
	unmeasured := g.voidToRepeat()
	switch {
	case g.anySoakFailed(): // shorter trials have proved too lenient, also at lower rates
		return g.narrowBySoak()
	case unmeasured != nil:
		return g.explore(unmeasured.rate), true
	case len(g.histories) == 0:
		return g.explore(g.firstRate()), true
	case high != nil && g.mayBeHiccup(high):
		return g.longTrial(high.rate), true
	case low == nil: // and high is not nil: trustedClass leaves a rate undecided only if another one was rejected
		return g.lower(high)
	case g.needsLastTrials(): // a narrow bracket is worth nothing if neither end is confirmed
		return g.confirm(low, high)
	case high == nil && !g.search.capped(low.rate):
		return g.explore(g.rateAbove(low)), true
	case high != nil && g.mayPassFarAbove(low, high):
		return g.explore(g.rateFarAbove(high)), true
	case high != nil && !within(low.rate, high.rate, g.goal.Width):
		return g.explore(g.rateBetween(low, high)), true
	}
	return g.confirm(low, high)
}

// voidToRepeat returns a rate whose trials were all void, and fewer than voidsToMoveOn; nil if there
// is none. A rate at which a trial fell behind is left alone: what came through says where to look
// next, and long trials decide in the end whether this rate is the upper bound.
func (g *goalSearch) voidToRepeat() *history {
	for _, h := range g.histories {
		_, fellBehind := h.capacity()
		if h.empty() && h.voids < voidsToMoveOn && !fellBehind {
			return h
		}
	}
	return nil
}

// mayBeHiccup reports whether the upper end of a bracket is worth a long trial before anything is
// built on it: it has had a long trial, or it failed only by its latency and a higher rate passed.
func (g *goalSearch) mayBeHiccup(high *history) bool {
	hadLongTrial := high.GoodLong+high.BadLong > 0
	return g.decidable(high) && (hadLongTrial || g.passedAbove(high) != nil)
}

// decidable reports whether a rate is undecided and more long trials may decide it.
func (g *goalSearch) decidable(h *history) bool { return g.class(h) == Undecided && h.voids < maxVoids }

// lower returns a trial at a lower rate than all that failed, of which high is the lowest. If no lower
// rate is worth a trial, it decides high. It asks for none if the broker breaks its promise at every rate.
func (g *goalSearch) lower(high *history) (Request, bool) {
	rate := g.rateBelow(high)
	switch {
	case g.everBroken():
		return Request{}, false
	case rate >= g.search.plan.Floor:
		return g.explore(rate), true
	case g.decidable(high):
		return g.longTrial(high.rate), true
	}
	return Request{}, false
}

// confirm returns the long trials that turn a narrow bracket into an answer, one by one, and then the
// soak; false if the answer is complete. high is nil if no rate failed.
func (g *goalSearch) confirm(low, high *history) (Request, bool) {
	switch {
	case g.decidable(low):
		return g.longTrial(low.rate), true
	case high != nil && g.decidable(high):
		return g.longTrial(high.rate), true
	case low.longestPass < g.goal.Soak:
		return g.soak(low.rate)
	case g.goal.Soak > 0:
		return g.narrowBySoak()
	}
	return Request{}, false
}

// narrowBySoak returns the next soak after the first: one at a lower rate than all that failed, or one
// within a bracket that is wider than the goal's width.
func (g *goalSearch) narrowBySoak() (Request, bool) {
	passed, failed := g.bracket(g.soakedClass)
	switch {
	case failed == nil:
		return Request{}, false
	case passed == nil:
		rate := failed.rate / g.step(firstStep)
		if guess, fellBehind := failed.capacity(); fellBehind {
			rate = min(rate, guess/g.step(halfWidth))
		}
		return g.soak(rate)
	case within(passed.rate, failed.rate, g.goal.Width):
		return Request{}, false
	}
	return g.soak(middle(passed.rate, failed.rate))
}

// soak returns the very long trial that confirms a rate; false if the rate is too low, or given up.
func (g *goalSearch) soak(rate float64) (Request, bool) {
	givenUp := func(h *history) bool { return h.rate == rate && h.voids >= maxVoids }
	if rate < g.search.plan.Floor || slices.ContainsFunc(g.histories, givenUp) {
		return Request{}, false
	}
	return Request{Kind: Soak, Rate: rate, For: g.goal.Soak}, true
}

// explore returns a trial that looks where the capacity may be: a short one, unless short ones have proved too lenient.
func (g *goalSearch) explore(rate float64) Request {
	if g.shortTooLenient() {
		return g.longTrial(rate)
	}
	return g.shortTrial(rate)
}

// minMessages is how many messages a short trial sends at least. At low rates it lasts longer for them.
const minMessages = 100

// shortTrial returns a short trial at a rate. If it would have to be as long as a long trial to send minMessages, it
// returns a long one, which may send fewer.
func (g *goalSearch) shortTrial(rate float64) Request {
	enough := time.Duration(minMessages / rate * float64(time.Second))
	length := max(g.search.plan.Short, enough)
	if length >= g.goal.FinalDuration {
		return g.longTrial(rate)
	}
	return Request{Kind: Short, Rate: rate, For: length}
}

func (g *goalSearch) longTrial(rate float64) Request {
	return Request{Kind: Confirm, Rate: rate, For: g.goal.FinalDuration}
}

// usedTrials returns how many trials of the search count towards maxTrials. Void ones say nothing about the broker and
// don't count, but only up to maxTrials of them: a search whose trials are all void has to end as well.
func (g *goalSearch) usedTrials() int { return g.search.trials - min(g.search.voids, g.maxTrials) }

// needsLastTrials reports whether the goal needs all trials that it has left, or all the time, to
// confirm a lower bound. For example, if two long trials confirm, it needs the last two.
func (g *goalSearch) needsLastTrials() bool {
	needed := g.goal.confirmations()
	if g.usedTrials()+needed >= g.maxTrials {
		return true
	}
	timeNeeded := time.Duration(needed) * (g.goal.FinalDuration + g.search.overhead)
	return g.spentAtMost > 0 && g.search.spent+timeNeeded >= g.spentAtMost
}

// affords estimates whether a trial ends within the budget. A goal for which nothing is confirmed yet may
// take one budget more. After that it may still decide a rate that has just passed a long trial;
// otherwise all its trials would have been for nothing.
func (g *goalSearch) affords(r Request) bool {
	end := g.search.spent + r.For + g.search.overhead
	switch {
	case g.spentAtMost == 0, end <= g.spentAtMost:
		return true
	case g.anyConfirmed():
		return false
	case end <= g.spentAtMost+g.search.plan.Budget:
		return true
	}
	passedLong := func(h *history) bool { return h.rate == r.Rate && h.GoodLong > 0 && h.BadLong == 0 }
	return r.Kind == Confirm && slices.ContainsFunc(g.histories, passedLong)
}

// halfBudgetSpent reports whether half of this goal's own budget is spent and no rate is confirmed.
func (g *goalSearch) halfBudgetSpent() bool {
	half := g.spentAtMost - g.search.plan.Budget/2
	return g.spentAtMost > 0 && g.search.spent >= half && !g.anyConfirmed()
}

// anyConfirmed reports whether the goal has a lower bound.
func (g *goalSearch) anyConfirmed() bool {
	low, _ := g.bracket(g.class)
	return low != nil
}
