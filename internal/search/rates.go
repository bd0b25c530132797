package search

import (
	"math"
	"slices"
)

// Which rate is tried next follows from the trials so far. Rates are compared by their ratio, in widths
// of the goal: at a width of 5 %, four widths are a factor of 1.05⁴ = 1.2155. Until a rate has failed
// (or passed), each step up (or down) is twice as many widths as the one before. What came through at
// a rate that was too much is the best guess of the capacity.

const (
	maxGrowth  = 4    // the largest factor between two rates
	firstStep  = 4    // widths of the first step away from a rate: its trials say nothing about how far the capacity is
	halfWidth  = 0.5  // widths from a rate that is likely to be the capacity to one that is likely to pass
	keptUp     = 0.97 // a trial fell behind if less than this share of its rate came through
	farAboveBy = 2    // factor from a rate that was too slow to one at which larger batches may make a broker fast enough
)

// step returns the factor between two rates that are so many widths apart.
func (g *goalSearch) step(widths float64) float64 { return math.Pow(1+g.goal.Width, widths) }

// doubled returns the factor of a step that goes twice as far, in widths, as the step between two
// rates: at least least, at most maxGrowth.
func doubled(lower, higher, least float64) float64 {
	return math.Max(least, math.Min(math.Pow(higher/lower, 2), maxGrowth))
}

// firstRate returns the rate at which a search begins. A guess that is likely to be near is put in the
// middle of the bracket that will come of it: the search begins half a width below.
func (g *goalSearch) firstRate() float64 {
	plan := g.search.plan
	begin := math.Max(plan.Begin, plan.Floor)
	if plan.Near {
		begin /= g.step(halfWidth)
	}
	return g.search.atMost(math.Max(begin, plan.Floor))
}

// rateAbove returns the rate to try when no rate has failed yet: twice as far, in widths, as the last
// step went. At a width of 5 %, 12,155/s follow 10,000/s, and then 17,959/s (a factor of 1.2155²).
func (g *goalSearch) rateAbove(low *history) float64 {
	factor := g.step(firstStep)
	if g.search.plan.Near {
		factor = g.step(1)
	}
	for _, h := range slices.Backward(g.rates) {
		if h.rate < low.rate && g.likelyClass(h) == Lower { // the next lower rate that passed
			factor = doubled(h.rate, low.rate, factor)
			break
		}
	}
	return g.search.atMost(low.rate * factor)
}

// rateBelow returns the rate to try when no rate has passed yet. If the trial fell behind, that is a
// little below the rate that came through. Otherwise it is twice as far, in widths, as the last step
// went; after short trials that were too lenient the first step is one width.
func (g *goalSearch) rateBelow(high *history) float64 {
	if guess, fellBehind := high.capacity(); fellBehind {
		return math.Max(guess/g.step(halfWidth), math.Min(g.search.plan.Floor, high.rate/2))
	}
	if refuted := g.refuted(); refuted > 0 {
		widths := math.Pow(2, float64(refuted-1))
		if g.halfBudgetSpent() {
			widths = math.Max(widths, firstStep)
		}
		return high.rate / math.Min(g.step(widths), maxGrowth)
	}
	factor := g.step(firstStep)
	for _, h := range g.rates {
		if h.rate > high.rate { // the next higher rate
			factor = doubled(high.rate, h.rate, factor)
			break
		}
	}
	return high.rate / factor
}

// capacity returns what came through in the last trial at a rate, as a guess of the capacity; false if
// the trial did not fall behind, so that the broker may have carried more, or if it isn't known.
func (h *history) capacity() (guess float64, fellBehind bool) {
	return h.through, h.through > 0 && h.through < keptUp*h.rate
}

// rateBetween returns the rate to try between two bounds. If the rate that came through at the upper
// bound says where the capacity is, that is half a width below it, and then a whole width above that.
// Otherwise, or if that guess was wrong, it is the middle on a logarithmic scale.
//
// For example, 35,000/s came through at 39,201/s: 34,157/s is tried (35,000 / √1.05), and if it
// passes, 35,864/s.
func (g *goalSearch) rateBetween(low, high *history) float64 {
	if guess, fellBehind := high.capacity(); fellBehind && guess > low.rate {
		if below := guess / g.step(halfWidth); below > low.rate*g.step(0.1) {
			return below
		}
		if above := low.rate * g.step(1); above < high.rate/g.step(0.1) {
			return above
		}
	}
	return math.Sqrt(low.rate * high.rate)
}

// rateFarAbove returns the rate to try once if only its latency made the upper end fail. A broker that
// gathers messages into batches may be too slow at a medium rate and fast enough at a high one.
func (g *goalSearch) rateFarAbove(high *history) float64 {
	return g.search.atMost(high.rate * farAboveBy)
}

// mayPassFarAbove reports whether a trial far above a narrow bracket may pass although its upper end
// failed. It may not if the latency wasn't the only cause there or at a rate in between, and it is not
// needed if a higher rate has passed or one about as high was tried.
func (g *goalSearch) mayPassFarAbove(low, high *history) bool {
	nearby := g.step(firstStep) * (1 + rounding)
	rate := g.rateFarAbove(high)
	switch {
	case high.rate > low.rate*nearby, !high.onlyLatency, g.passedAbove(high) != nil:
		return false
	case g.refuted() > 0, within(high.rate, rate, g.goal.Width):
		return false
	}
	for _, h := range g.rates {
		between := h.rate > high.rate && h.rate < rate
		aboutAsHigh := h.rate >= rate && h.rate <= rate*nearby // the bracket may have moved down by as much since
		if aboutAsHigh || (between && !h.onlyLatency) {
			return false
		}
	}
	return true
}
