package search

import (
	"math"
	"slices"
)

// The distance between two rates is their ratio, in widths of the goal (Goal.Width): at a width of 5 %, rates four widths
// apart have a ratio of 1.05⁴ = 1.2155. Until a rate has failed (or passed), each step up (or down) is twice as many
// widths as the one before. If a trial fell behind, what came through is the best guess of the capacity.
const (
	maxGrowth = 4   // the largest factor between two rates
	firstStep = 4   // widths of the first step away from a rate: its trials say nothing about how far the capacity is
	halfWidth = 0.5 // widths from a rate that is likely to be the capacity to one that is likely to pass
	tooClose  = 0.1 // widths from an end of a bracket within which a trial would show hardly more than that end

	// keptUp is the share of its rate that comes through in a trial that doesn't fall behind. It is below 1 because messages
	// that are under way when a trial of one second begins or ends make up some percent of it.
	keptUp = 0.97
)

// step returns the ratio of two rates that are so many widths apart.
func (g *goalSearch) step(widths float64) float64 { return math.Pow(1+g.goal.Width, widths) }

// firstRate returns the rate at which a search begins: Plan.Begin.
func (g *goalSearch) firstRate() float64 {
	return g.search.limited(max(g.search.plan.Begin, g.search.plan.Floor))
}

// rateToNarrow returns the rate of the trial that narrows the bracket from low to high. While no rate has failed and high is nil,
// that is the trial that may find high, first at the lowest rate whose failures are outdated. It returns false if the bracket is
// narrow enough, or low is the highest rate allowed.
func (g *goalSearch) rateToNarrow(low, high *triedRate) (rate float64, ok bool) {
	if again := g.outdatedAbove(low); again != nil && (high == nil || again.rate < high.rate) {
		return again.rate, true
	}
	if high == nil {
		if g.search.capped(low.rate) {
			return 0, false
		}
		return g.rateAbove(low), true
	}
	if within(low.rate, high.rate, g.goal.Width) {
		return 0, false
	}
	rate = g.rateBetween(low, high)
	if g.decidedClass(low) == Lower { // less than a width above, a trial costs as much and gains less
		rate = max(rate, low.rate*g.step(1))
	}
	return rate, true
}

// rateAbove returns the rate to try when no rate has failed yet: twice as far, in widths, as the last step went. At a
// width of 5 %, 12,155/s follow 10,000/s, and then 17,959/s. low is the highest rate that passed.
func (g *goalSearch) rateAbove(low *triedRate) float64 {
	factor := g.step(firstStep)
	for _, r := range slices.Backward(g.tried) {
		if r.rate < low.rate && g.likelyClass(r) == Lower { // the next lower rate that passed
			factor = doubled(r.rate, low.rate, factor)
			break
		}
	}
	return g.search.limited(low.rate * factor)
}

// rateBelow returns the rate to try when no rate has passed yet. Trials at lower rates are less often void, but a void trial
// doesn't show how much lower: below a void one the step is the largest. If the trial at high, the lowest rate that failed, fell
// behind, the rate is a little below what came through. Otherwise the step is twice as wide as the one before.
func (g *goalSearch) rateBelow(high *triedRate) float64 {
	if high.onlyVoid() {
		return max(high.rate/maxGrowth, min(g.search.plan.Floor, high.rate/2))
	}
	if guess, fellBehind := high.capacity(); fellBehind {
		// A guess below the floor leads to a trial at the floor, if that is at most half of high.
		return max(guess/g.step(halfWidth), min(g.search.plan.Floor, high.rate/2))
	}
	if g.shortTooLenient() {
		return high.rate / g.stepBelowLenient()
	}
	factor := g.step(firstStep)
	for _, r := range g.tried {
		if r.rate > high.rate { // the next higher rate
			factor = doubled(high.rate, r.rate, factor)
			break
		}
	}
	return high.rate / factor
}

// doubled returns the factor of a step that goes twice as far, in widths, as the step between two rates: at least least,
// at most maxGrowth. After a step by 1.2155 that is 1.2155² = 1.4775.
func doubled(lower, higher, least float64) float64 {
	ratio := higher / lower
	return max(least, min(ratio*ratio, maxGrowth))
}

// capacity returns the rate that came through in the last trial as a guess of the capacity. It returns false if the trial did not
// fall behind, so that the broker may carry more, or if the rate isn't known.
func (r *triedRate) capacity() (guess float64, fellBehind bool) {
	return r.through, 0 < r.through && r.through < keptUp*r.rate
}

// rateBetween returns the rate to try between two bounds. If the trial at the upper one fell behind, that is half a width
// below what came through, and then a width above that. If it didn't, or if these are too close to an end, it is the
// middle.
//
// For example, 35,000/s came through at 39,201/s: 34,157/s is tried (35,000 / √1.05), and if it passes, 35,864/s.
func (g *goalSearch) rateBetween(low, high *triedRate) float64 {
	if guess, fellBehind := high.capacity(); fellBehind && guess > low.rate {
		margin := g.step(tooClose)
		if below := guess / g.step(halfWidth); below > low.rate*margin {
			return below
		}
		if above := low.rate * g.step(1); above < high.rate/margin {
			return above
		}
	}
	return middle(low.rate, high.rate)
}

// middle returns the rate that is as many widths above low as below high.
func middle(low, high float64) float64 { return math.Sqrt(low * high) }
