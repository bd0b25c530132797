package search

import "time"

// next returns the trial that the goal needs now; false if it needs none. Short trials find a rate that passes (low) and
// a higher one that fails (high), and narrow this bracket to the goal's width. Then long trials decide its two ends, and
// a soak confirms the lower one. The conditions are in the order of their urgency.
func (g *goalSearch) next() (Request, bool) {
	if g.anySoakFailed() { // now only soaks count
		return g.furtherSoak()
	}
	if unmeasured := g.voidToRepeat(); unmeasured != nil { // the last trial showed nothing
		return g.explore(unmeasured.rate), true
	}
	if len(g.tried) == 0 { // the search begins
		return g.explore(g.firstRate()), true
	}

	low, high := g.bracket(g.trustedClass)
	if high != nil && g.mayBeHiccup(high) {
		return g.longTrial(high.rate), true
	}
	if low == nil { // no rate has passed, and high is one that failed: trustedClass doesn't leave all rates undecided
		return g.below(high)
	}
	if rate, ok := g.rateToNarrow(low, high); ok && !g.needsLastTrials() && !g.search.onlyVoids() {
		return g.explore(rate), true
	}
	return g.confirm(low, high)
}

// mayBeHiccup reports whether the upper end of a bracket needs another long trial first, because it has had one that did not decide.
func (g *goalSearch) mayBeHiccup(high *triedRate) bool {
	return g.decidable(high) && high.GoodLong+high.BadLong > 0
}

// below returns a trial at a lower rate than all that failed, of which high is the lowest. If no lower rate is worth a
// trial, it decides high. It returns false if the broker breaks its promise at every rate.
func (g *goalSearch) below(high *triedRate) (Request, bool) {
	if g.everBroken() {
		return Request{}, false
	}
	if rate := g.rateBelow(high); rate >= g.search.plan.Floor {
		return g.explore(rate), true
	}
	if g.decidable(high) {
		return g.longTrial(high.rate), true
	}
	return Request{}, false
}

// confirm returns the long trials that turn a narrow bracket into an answer, one by one, and then the soaks; false if the
// answer is complete. high is nil if no rate failed.
func (g *goalSearch) confirm(low, high *triedRate) (Request, bool) {
	switch {
	case g.decidable(low) && low.onlyLongVoid() && !g.anyConfirmed():
		return g.longTrial(g.rateBelowVoid()), true
	case g.decidable(low):
		return g.longTrial(low.rate), true
	case high != nil && g.decidable(high):
		return g.longTrial(high.rate), true
	case g.goal.Soak == 0:
		return Request{}, false
	case low.longestPass < g.goal.Soak:
		return g.soak(low.rate)
	}
	return g.furtherSoak()
}

// minMessages is the least number of messages of a short trial. At low rates the trial lasts longer to send them.
const minMessages = 100

// explore returns a trial that shows whether the capacity is above or below a rate: a short one, or a long one if short ones have
// proved too lenient, or if minMessages take as long as a long trial. A long one may send fewer.
func (g *goalSearch) explore(rate float64) Request {
	enough := time.Duration(minMessages / rate * float64(time.Second)) // no rate is 0, as Plan.Floor isn't
	length := max(g.search.plan.Short, enough)
	if length >= g.goal.FinalDuration || g.shortTooLenient() {
		return g.longTrial(rate)
	}
	return Request{Kind: Short, Rate: rate, For: length}
}

func (g *goalSearch) longTrial(rate float64) Request {
	return Request{Kind: Confirm, Rate: rate, For: g.goal.FinalDuration}
}
