package search

import (
	"math"
	"slices"
	"time"
)

// A void trial says nothing about its rate: the generator, or another process, was in the way. So the
// rate is tried again.
const (
	voidsToMoveOn  = 2 // void trials of a rate, and no others, before another rate is tried
	maxVoids       = 4 // void trials of a rate before it is given up
	maxVoidsInARow = 8 // void trials of any rates before the search ends
)

// next returns the trial that the goal needs; false if it needs none. Exploring trials find a rate that
// passed and a higher one that failed, and narrow this bracket to the goal's width. Then long trials
// decide its two ends, and a soak confirms the lower one. The first case that applies chooses.
func (g *goalSearch) next() (Request, bool) {
	low, high := g.likelyBracket()
	unmeasured := g.voidToRepeat()
	switch {
	case g.anySoakFailed(): // shorter trials have proved too lenient, also at lower rates
		return g.narrowBySoak()
	case unmeasured != nil:
		return g.explore(unmeasured.rate), true
	case len(g.rates) == 0:
		return g.explore(g.firstRate()), true
	case high != nil && g.mayBeHiccup(high):
		return g.fullTrial(high.rate), true
	case low == nil:
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
	for _, h := range g.rates {
		if _, fellBehind := h.capacity(); h.empty() && h.voids < voidsToMoveOn && !fellBehind {
			return h
		}
	}
	return nil
}

// mayBeHiccup reports whether the upper end of a bracket is worth a long trial before anything is
// built on it: it has had a long trial, or it failed only by its latency and a higher rate passed.
func (g *goalSearch) mayBeHiccup(high *history) bool {
	return g.decidable(high) && (high.GoodLong+high.BadLong > 0 || g.passedAbove(high) != nil)
}

// decidable reports whether more long trials may decide a rate.
func (g *goalSearch) decidable(h *history) bool { return g.class(h) == Undecided && h.voids < maxVoids }

// lower returns a trial at a lower rate than all that failed. If no lower rate is worth a trial, the
// lowest that failed is decided. None is asked for if the broker breaks its promise at every rate.
func (g *goalSearch) lower(high *history) (Request, bool) {
	rate := g.rateBelow(high)
	switch {
	case g.everBroken():
		return Request{}, false
	case rate >= g.search.plan.Floor:
		return g.explore(rate), true
	case g.decidable(high):
		return g.fullTrial(high.rate), true
	}
	return Request{}, false
}

// confirm returns the long trials that turn a narrow bracket into an answer, one by one, and then the
// soak. high is nil if no rate failed.
func (g *goalSearch) confirm(low, high *history) (Request, bool) {
	switch {
	case g.decidable(low):
		return g.fullTrial(low.rate), true
	case high != nil && g.decidable(high):
		return g.fullTrial(high.rate), true
	case low.soaked < g.goal.Soak:
		return g.soak(low.rate)
	case g.goal.Soak > 0:
		return g.narrowBySoak()
	}
	return Request{}, false
}

// narrowBySoak returns the next soak after the first: one at a lower rate than all that failed, or one
// within a bracket that is wider than the goal's width.
func (g *goalSearch) narrowBySoak() (Request, bool) {
	passed, failed := g.soakedBracket()
	switch {
	case failed == nil:
		return Request{}, false
	case passed == nil:
		rate := failed.rate / g.step(firstStep)
		if guess, fellBehind := failed.capacity(); fellBehind {
			rate = math.Min(rate, guess/g.step(halfWidth))
		}
		return g.soak(rate)
	case within(passed.rate, failed.rate, g.goal.Width):
		return Request{}, false
	}
	return g.soak(math.Sqrt(passed.rate * failed.rate))
}

// soak returns the very long trial that confirms a rate; false if the rate is too low, or given up.
func (g *goalSearch) soak(rate float64) (Request, bool) {
	givenUp := func(h *history) bool { return h.rate == rate && h.voids >= maxVoids }
	if rate < g.search.plan.Floor || slices.ContainsFunc(g.rates, givenUp) {
		return Request{}, false
	}
	return Request{Kind: Soak, Rate: rate, For: g.goal.Soak}, true
}

// explore returns a trial that looks where the capacity may be: a short one, or a long one once long
// trials have refuted short ones.
func (g *goalSearch) explore(rate float64) Request {
	if g.refuted() > 0 {
		return g.fullTrial(rate)
	}
	return g.shortTrial(rate)
}

// minMessages is how many messages a short trial sends at least. At low rates it lasts longer for them.
const minMessages = 100

// shortTrial returns a short trial at a rate; one of full length, which may send fewer messages than
// minMessages, if it would have to be as long.
func (g *goalSearch) shortTrial(rate float64) Request {
	length := max(g.search.plan.Short, time.Duration(minMessages/rate*1e9))
	if length >= g.goal.FinalDuration {
		return g.fullTrial(rate)
	}
	return Request{Kind: Short, Rate: rate, For: length}
}

func (g *goalSearch) fullTrial(rate float64) Request {
	return Request{Kind: Confirm, Rate: rate, For: g.goal.FinalDuration}
}

// usedTrials is how many trials of the search count towards maxTrials. Void ones don't, since they say
// nothing about the broker; but no more than maxTrials of them, so that a search whose trials are all
// void ends as well.
func (g *goalSearch) usedTrials() int { return g.search.trials - min(g.search.voids, g.maxTrials) }

// needsLastTrials reports whether the goal needs all trials that it has left, or all the time, to
// confirm a lower bound.
func (g *goalSearch) needsLastTrials() bool {
	needed := g.goal.confirmations()
	end := g.search.spent + time.Duration(needed)*(g.goal.FinalDuration+g.search.overhead)
	return g.usedTrials()+needed >= g.maxTrials || (g.spentAtMost > 0 && end >= g.spentAtMost)
}

// affords estimates whether a trial ends within the budget. A goal for which nothing is confirmed yet may
// take one budget more. After that it may still decide a rate that has just passed a long trial;
// otherwise all its trials would have been for nothing.
func (g *goalSearch) affords(r Request) bool {
	end := g.search.spent + r.For + g.search.overhead
	if g.spentAtMost == 0 || end <= g.spentAtMost {
		return true
	}
	if low, _ := g.confirmedBracket(); low != nil {
		return false
	}
	if end <= g.spentAtMost+g.search.plan.Budget {
		return true
	}
	passedLong := func(h *history) bool { return h.rate == r.Rate && h.GoodLong > 0 && h.BadLong == 0 }
	return r.Kind == Confirm && slices.ContainsFunc(g.rates, passedLong)
}

// halfBudgetSpent reports whether half of this goal's own budget is spent and no rate is confirmed.
func (g *goalSearch) halfBudgetSpent() bool {
	low, _ := g.confirmedBracket()
	return g.spentAtMost > 0 && low == nil && g.search.spent >= g.spentAtMost-g.search.plan.Budget/2
}
