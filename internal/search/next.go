package search

import (
	"math"
	"slices"
	"time"
)

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

// Short trials may fail only because the broker is cold: a JIT compiler speeds it up in its first minute. Failures of short
// trials at the beginning are discarded once a long trial has passed (outdated).

// outdateFailures marks all rates that only short trials have failed. A long trial has passed since, so each of them deserves
// another short trial, whose result replaces the old ones.
func (g *goalSearch) outdateFailures() {
	for _, r := range g.tried {
		r.outdated = r.outdated || !r.renewed && !r.Broken && r.BadShort > 0 && r.GoodLong+r.BadLong == 0
	}
}

// outdatedAbove returns the lowest rate above low whose failures are outdated; nil if there is none.
func (g *goalSearch) outdatedAbove(low *triedRate) *triedRate {
	for _, r := range g.tried {
		if r.rate > low.rate && r.outdated {
			return r
		}
	}
	return nil
}

// A broker may sustain a rate for a second, but not for five. Then short trials are too lenient, and the rest of the search uses
// long ones.

// shortTooLenient reports whether long trials have rejected a rate that had passed a short one.
func (g *goalSearch) shortTooLenient() bool {
	return slices.ContainsFunc(g.tried, func(r *triedRate) bool { return g.onlyLongRejected(r) && r.GoodShort > 0 })
}

// onlyLongRejected reports whether long trials rejected a rate and no short one failed at it.
func (g *goalSearch) onlyLongRejected(r *triedRate) bool {
	return r.BadLong > 0 && r.BadShort == 0 && g.decidedClass(r) == Upper
}

// stepBelowLenient returns the factor of a step down from the lowest rate that failed, once short trials have proved too
// lenient. The capacity is likely to be near, so the first step is one width, below the first rate that only long trials
// rejected. It is two widths below the second such rate, and four below the third. Once half the budget is spent and no
// rate is confirmed, it is firstStep or more.
func (g *goalSearch) stepBelowLenient() float64 {
	rejected := 0
	for _, r := range g.tried {
		if g.onlyLongRejected(r) {
			rejected++
		}
	}
	widths := math.Pow(2, float64(rejected-1)) // shortTooLenient has seen one rate at least
	if g.halfBudgetSpent() {
		widths = max(widths, firstStep)
	}
	return min(g.step(widths), maxGrowth)
}

// A goal may ask for a soak: a trial of many minutes, long enough to fill the caches that hide a rate that the broker can't
// sustain. It follows at the rate that long trials confirmed. If it fails, these have proved too lenient, also at lower rates, so
// from then on only soaks make a lower bound.

// anySoakFailed reports whether a soak has failed at any rate.
func (g *goalSearch) anySoakFailed() bool {
	return slices.ContainsFunc(g.tried, func(r *triedRate) bool { return r.soakFailed })
}

// soakedClass is the class of a rate once a soak has failed. Long trials can still reject a rate, but not confirm it.
func (g *goalSearch) soakedClass(r *triedRate) Class {
	decided := g.decidedClass(r)
	if passedSoak := r.longestPass >= g.goal.Soak; passedSoak {
		return decided
	}
	if r.soakFailed {
		return Upper
	}
	if decided == Lower {
		return Undecided
	}
	return decided
}

// furtherSoak returns the soak that follows the first one. It is below all rates that failed or, if a rate below these has
// passed a soak, halfway between the two. It returns false if no rate failed, or if these are within the goal's width.
func (g *goalSearch) furtherSoak() (Request, bool) {
	passed, failed := g.bracket(g.soakedClass)
	if failed == nil {
		return Request{}, false
	}
	if passed == nil {
		rate := failed.rate / g.step(firstStep)
		if guess, fellBehind := failed.capacity(); fellBehind { // the rate that came through says more
			rate = min(rate, guess/g.step(halfWidth))
		}
		return g.soak(rate)
	}
	if within(passed.rate, failed.rate, g.goal.Width) {
		return Request{}, false
	}
	return g.soak(middle(passed.rate, failed.rate))
}

// soak returns the soak at a rate; false if the rate is too low, or was given up after maxVoids void trials.
func (g *goalSearch) soak(rate float64) (Request, bool) {
	if rate < g.search.plan.Floor {
		return Request{}, false
	}
	for _, r := range g.tried {
		// The same bounds lead to exactly the same rate again.
		if r.rate == rate && r.voids >= maxVoids {
			return Request{}, false
		}
	}
	return Request{Kind: Soak, Rate: rate, For: g.goal.Soak}, true
}
