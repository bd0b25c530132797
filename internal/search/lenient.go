package search

import (
	"math"
	"slices"
)

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
