package search

import (
	"math"
	"slices"
)

// Which rate is tried next follows from the trials so far. The distance between two rates is their
// ratio, in widths of the goal: at a width of 5 %, four widths are a factor of 1.05⁴ = 1.2155. Until a
// rate has failed (or passed), each step up (or down) is twice as many widths as the one before. If a
// trial fell behind, what came through is the best guess of the capacity.

const (
	maxGrowth  = 4    // the largest factor between two rates
	firstStep  = 4    // widths of the first step away from a rate: its trials say nothing about how far the capacity is
	halfWidth  = 0.5  // widths from a rate that is likely to be the capacity to one that is likely to pass
	keptUp     = 0.97 // a trial fell behind if less than this share of its rate came through
	farAboveBy = 2    // factor from a rate with too high a latency to one whose larger batches may bring it down
)

// rateToExplore returns the rate of the next exploring trial; false if the bracket is narrow enough, or low is the highest
// rate that may be tried. high is nil if no rate has failed yet.
func (g *goalSearch) rateToExplore(low, high *history) (rate float64, ok bool) {
	switch {
	case high == nil:
		return g.rateAbove(low), !g.search.capped(low.rate)
	case g.mayPassFarAbove(low, high):
		return g.rateFarAbove(high), true
	}
	return g.rateBetween(low, high), !within(low.rate, high.rate, g.goal.Width)
}

// step returns the factor between two rates that are so many widths apart.
func (g *goalSearch) step(widths float64) float64 { return math.Pow(1+g.goal.Width, widths) }

// doubled returns the factor of a step that goes twice as far, in widths, as the step between two
// rates: at least least, at most maxGrowth. After a step by 1.2155 that is 1.2155² = 1.4775.
func doubled(lower, higher, least float64) float64 {
	return max(least, min(math.Pow(higher/lower, 2), maxGrowth))
}

// firstRate returns the rate at which a search begins. A guess that is likely to be near is put in the
// middle of the bracket that will come of it: the search begins half a width below.
func (g *goalSearch) firstRate() float64 {
	plan := g.search.plan
	begin := plan.Begin
	if plan.Near {
		begin /= g.step(halfWidth)
	}
	return g.search.limited(max(begin, plan.Floor))
}

// rateAbove returns the rate to try when no rate has failed yet: twice as far, in widths, as the last
// step went. At a width of 5 %, 12,155/s follow 10,000/s, and then 17,959/s.
func (g *goalSearch) rateAbove(low *history) float64 {
	factor := g.step(firstStep)
	if g.search.plan.Near {
		factor = g.step(1)
	}
	for _, h := range slices.Backward(g.histories) {
		if h.rate < low.rate && g.likelyClass(h) == Lower { // the next lower rate that passed
			factor = doubled(h.rate, low.rate, factor)
			break
		}
	}
	return g.search.limited(low.rate * factor)
}

// rateBelow returns the rate to try when no rate has passed yet. If the trial fell behind, that is a
// little below the rate that came through. Otherwise it is twice as far, in widths, as the last step went.
func (g *goalSearch) rateBelow(high *history) float64 {
	if guess, fellBehind := high.capacity(); fellBehind {
		// A guess below the floor leads to a trial at the floor, if that is at most half of high.
		return max(guess/g.step(halfWidth), min(g.search.plan.Floor, high.rate/2))
	}
	if g.shortTooLenient() {
		return high.rate / g.stepBelowLenient()
	}
	factor := g.step(firstStep)
	for _, h := range g.histories {
		if h.rate > high.rate { // the next higher rate
			factor = doubled(high.rate, h.rate, factor)
			break
		}
	}
	return high.rate / factor
}

// stepBelowLenient returns the factor of a step down after short trials that were too lenient: one width below the
// first rate that only long trials rejected, two below the second, four below the third.
func (g *goalSearch) stepBelowLenient() float64 {
	rejected := 0
	for _, h := range g.histories {
		if g.onlyLongRejected(h) {
			rejected++
		}
	}
	widths := math.Pow(2, float64(rejected-1))
	if g.halfBudgetSpent() {
		widths = max(widths, firstStep)
	}
	return min(g.step(widths), maxGrowth)
}

// capacity returns what came through in the last trial at a rate, as a guess of the capacity; false if
// the trial did not fall behind, so that the broker may have carried more, or if it isn't known.
func (h *history) capacity() (guess float64, fellBehind bool) {
	return h.through, h.through > 0 && h.through < keptUp*h.rate
}

// rateBetween returns the rate to try between two bounds. If the trial at the upper one fell behind, that
// is half a width below what came through, and then a width above that. If it didn't, or if these are
// no rates well inside the bracket, it is the middle.
//
// For example, 35,000/s came through at 39,201/s: 34,157/s is tried (35,000 / √1.05), and if it passes, 35,864/s.
func (g *goalSearch) rateBetween(low, high *history) float64 {
	wellAboveLow, wellBelowHigh := low.rate*g.step(0.1), high.rate/g.step(0.1)
	if guess, fellBehind := high.capacity(); fellBehind && guess > low.rate {
		if below := guess / g.step(halfWidth); below > wellAboveLow {
			return below
		}
		if above := low.rate * g.step(1); above < wellBelowHigh {
			return above
		}
	}
	return middle(low.rate, high.rate)
}

// middle returns the rate that is as many widths above low as below high.
func middle(low, high float64) float64 { return math.Sqrt(low * high) }

// rateFarAbove returns the rate to try once if only its latency made the upper end fail. A broker that
// gathers messages into batches may be too slow at a medium rate and fast enough at a high one.
func (g *goalSearch) rateFarAbove(high *history) float64 {
	return g.search.limited(high.rate * farAboveBy)
}

// mayPassFarAbove reports whether a trial at rateFarAbove is worth it: the bracket is at most firstStep wide, only its
// latency made the upper end fail, no higher rate has passed, and none that tells the same was tried. Rates tried in
// between tell the same unless they failed by their latency alone. So do those about as high: far above a bracket from
// 10,000 to 10,500/s are 21,000/s, and up to 25,526/s is about as high, since the bracket may have moved down meanwhile.
func (g *goalSearch) mayPassFarAbove(low, high *history) bool {
	if !high.onlyLatency || g.passedAbove(high) != nil || g.shortTooLenient() || !within(low.rate, high.rate, g.step(firstStep)-1) {
		return false
	}
	farAbove := g.rateFarAbove(high)
	if within(high.rate, farAbove, g.goal.Width) { // there is nothing to try between high and the highest rate allowed
		return false
	}
	aboutAsHigh := farAbove * g.step(firstStep) * (1 + rounding)
	for _, h := range g.histories {
		inBetween := h.rate > high.rate && h.rate < farAbove
		if inBetween && !h.onlyLatency || h.rate >= farAbove && h.rate <= aboutAsHigh {
			return false
		}
	}
	return true
}
