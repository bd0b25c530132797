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

// next returns the trial that the goal needs; false if it needs none. Exploring trials find a rate that passed (low) and
// a higher one that failed (high), and narrow this bracket to the goal's width. Then long trials decide its two ends, and
// a soak confirms the lower one. The example in the package comment shows a whole search.
func (g *goalSearch) next() (Request, bool) {
	if g.anySoakFailed() { // shorter trials have proved too lenient, also at lower rates
		return g.soakBelowFailed()
	}
	if unmeasured := g.voidToRepeat(); unmeasured != nil {
		return g.explore(unmeasured.rate), true
	}
	if len(g.histories) == 0 {
		return g.explore(g.firstRate()), true
	}
	low, high := g.bracket(g.trustedClass)
	if high != nil && g.mayBeHiccup(high) {
		return g.longTrial(high.rate), true
	}
	if low == nil { // then high is not nil: trustedClass leaves a rate undecided only if it rejects another one
		return g.lower(high)
	}
	if rate, ok := g.rateToExplore(low, high); ok && !g.needsLastTrials() {
		return g.explore(rate), true
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
		return g.soakBelowFailed()
	}
	return Request{}, false
}

// soakBelowFailed returns a soak at a lower rate than all that failed, or between these and the highest rate that passed a
// soak; false if those two are within the goal's width.
func (g *goalSearch) soakBelowFailed() (Request, bool) {
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

// minMessages is how many messages a short trial sends at least. At low rates it lasts longer for them.
const minMessages = 100

// explore returns a trial that looks where the capacity may be: a short one. It is a long one if short ones have proved too
// lenient, or if a short one would have to be as long to send minMessages. A long one may send fewer.
func (g *goalSearch) explore(rate float64) Request {
	enough := time.Duration(minMessages / rate * float64(time.Second))
	length := max(g.search.plan.Short, enough)
	if length >= g.goal.FinalDuration || g.shortTooLenient() {
		return g.longTrial(rate)
	}
	return Request{Kind: Short, Rate: rate, For: length}
}

func (g *goalSearch) longTrial(rate float64) Request {
	return Request{Kind: Confirm, Rate: rate, For: g.goal.FinalDuration}
}
