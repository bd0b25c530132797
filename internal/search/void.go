package search

import (
	"fmt"
	"slices"
)

// A void trial says nothing about its rate: the generator, or another process, interfered. So the rate is tried again, but not for ever.
const (
	voidsToMoveOn  = 2 // void trials at a rate, if it had no others, before another rate is tried; 1 until a rate has passed
	maxVoids       = 4 // void trials at a rate before it is given up
	maxVoidsInARow = 8 // void trials in a row, at whatever rates, before the search confirms what has passed, or ends
)

// voidToRepeat returns a rate to try again because all its trials were void, and fewer than voidsToMoveOn; nil if there is none.
// It skips a rate at which the trial fell behind: the rate that came through says where to look next. Until a rate has passed, a
// much lower one says more (rateBelow).
func (g *goalSearch) voidToRepeat() *triedRate {
	if !g.anyPassed() {
		return nil
	}
	for _, r := range g.tried {
		_, fellBehind := r.capacity()
		if r.onlyVoid() && r.voids < voidsToMoveOn && !fellBehind {
			return r
		}
	}
	return nil
}

// onlyLongVoid reports whether all full-length trials at a rate were void, and are enough to move on.
func (r *triedRate) onlyLongVoid() bool {
	return r.longVoids >= voidsToMoveOn && len(r.longTrials) == 0
}

// rateBelowVoid returns the rate of the next full-length trial when those at a rate were void and none has confirmed a rate yet: a lower
// rate that can be measured comes before higher ones that may be. Each step down is twice as many widths as the one before.
func (g *goalSearch) rateBelowVoid() float64 {
	var lowest, above *triedRate // the lowest two rates with void full-length trials
	for _, r := range slices.Backward(g.tried) {
		if r.longVoids > 0 {
			lowest, above = r, lowest
		}
	}
	factor := g.step(firstStep)
	if above != nil {
		factor = doubled(lowest.rate, above.rate, factor)
	}
	if lowest.voids < voidsToMoveOn {
		factor = 1
	}
	return max(lowest.rate/factor, g.search.plan.Floor)
}

// anyPassed reports whether the goal has a rate that it may confirm.
func (g *goalSearch) anyPassed() bool {
	low, _ := g.bracket(g.likelyClass)
	return low != nil
}

// decidable reports whether a rate is undecided and more long trials may decide it.
func (g *goalSearch) decidable(r *triedRate) bool {
	return g.decidedClass(r) == Undecided && r.voids < maxVoids
}

// voidBetween says why a rate between two bounds could not be measured, such as "at 20000/s: the generator was late"; it
// is empty if all could be. A bound that is not known is nil. A rate that its trials decide was measured, whatever void
// trials it had, and also if it was not soaked.
func (g *goalSearch) voidBetween(low, high *triedRate) string {
	for _, r := range g.tried {
		aboveLow := low == nil || r.rate > low.rate
		belowHigh := high == nil || r.rate < high.rate
		if aboveLow && belowHigh && r.voids > 0 && g.decidedClass(r) == Undecided {
			return fmt.Sprintf("at %.0f/s: %s", r.rate, r.voidReason)
		}
	}
	return ""
}
