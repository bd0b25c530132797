package search

import "slices"

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
