package search

import (
	"math"
	"time"
)

// Which rate is tried next follows from the trials so far. Rates are compared by their ratio, in widths of the goal: at a width of 5 %,
// four widths are a factor of 1.05⁴ = 1.2155. Until a rate has failed (or passed), each step up (or down) is twice as many widths as
// the one before. What came through at a rate that was too much is the best guess of the capacity.

const (
	maxGrowth  = 4    // the largest factor between two rates
	firstStep  = 4    // widths of the first step away from a rate: its trials say nothing about how far the capacity is
	halfWidth  = 0.5  // widths from a rate that is likely to be the capacity to one that is likely to pass
	keptUp     = 0.97 // a trial fell behind if less than this share of its rate came through
	farAboveBy = 2    // the factor from a rate that was too slow to one at which a broker with larger batches may be fast enough
)

// step returns the factor between two rates that are so many widths apart.
func (q question) step(widths float64) float64 { return math.Pow(1+q.goal.Width, widths) }

// first returns the rate at which a search begins. A guess that is likely to be near is put in the middle of the bracket
// that will come of it: the search begins half a width below.
func (q question) first() float64 {
	begin := math.Max(q.search.Begin, q.search.Floor)
	if q.search.Near {
		begin /= q.step(halfWidth)
	}
	return q.search.atMost(math.Max(begin, q.search.Floor))
}

// above returns the rate to try when no rate has failed yet: twice as far, in widths, as the last step went. At a width of 5 %,
// 12,155/s follow 10,000/s, and then 17,959/s (a factor of 1.2155²).
func (q question) above(low *load) float64 {
	factor := q.step(firstStep)
	if q.search.Near {
		factor = q.step(1)
	}
	var before *load // the highest rate below low that passed
	for _, l := range q.search.loads {
		if l.rate < low.rate && q.likely(l) == Lower {
			before = l
		}
	}
	if before != nil {
		factor = math.Max(factor, math.Min(math.Pow(low.rate/before.rate, 2), maxGrowth))
	}
	return q.search.atMost(low.rate * factor)
}

// under returns the rate to try when no rate has passed yet. If the trial fell behind, that is a little below the rate that
// came through. Otherwise it is twice as far, in widths, as the last step went; after short trials that were too lenient
// the first step is one width.
func (q question) under(high *load) float64 {
	if guess, fellBehind := high.capacity(); fellBehind {
		return math.Max(guess/q.step(halfWidth), math.Min(q.search.Floor, high.rate/2))
	}
	if refuted := q.refuted(); refuted > 0 {
		widths := math.Pow(2, float64(refuted-1))
		if q.halfBudgetSpent() {
			widths = math.Max(widths, firstStep)
		}
		return high.rate / math.Min(q.step(widths), maxGrowth)
	}
	factor := q.step(firstStep)
	for _, l := range q.search.loads {
		if l.rate > high.rate { // the next rate up
			factor = math.Max(factor, math.Min(math.Pow(l.rate/high.rate, 2), maxGrowth))
			break
		}
	}
	return high.rate / factor
}

// halfBudgetSpent reports whether half of the budget is spent and no rate is confirmed.
func (q question) halfBudgetSpent() bool {
	low, _ := q.bracket(q.class)
	half := q.search.Budget * time.Duration(2*q.index+1) / 2
	return q.search.Budget > 0 && low == nil && q.search.spent >= half
}

// capacity returns the rate that came through at a load, as a guess of the capacity; false if the trial did not fall behind,
// so that the broker may have carried more.
func (l *load) capacity() (guess float64, fellBehind bool) {
	return l.through, l.through > 0 && l.through < keptUp*l.rate
}

// between returns the rate to try between two bounds. If the rate that came through at the upper bound says where the
// capacity is, that is half a width below it, and then a whole width above that. Otherwise, or if that guess was wrong, it
// is the middle on a logarithmic scale.
//
// For example, 35,000/s came through at 39,201/s: 34,157/s is tried (35,000 / √1.05), and if it passes, 35,864/s.
func (q question) between(low, high *load) float64 {
	if guess, fellBehind := high.capacity(); fellBehind && guess > low.rate {
		if below := guess / q.step(halfWidth); below > low.rate*q.step(0.1) {
			return below
		}
		if up := low.rate * q.step(1); up < high.rate/q.step(0.1) {
			return up
		}
	}
	return math.Sqrt(low.rate * high.rate)
}

// farAbove returns a rate far above a narrow bracket whose upper end only its latency made fail. A broker that gathers messages into
// batches may be too slow at a medium rate and fast enough at a high one. It is false if trials have answered that already: a higher
// rate passed, one below the far rate failed for another reason, or one about as high was tried.
func (q question) farAbove(low, high *load) (float64, bool) {
	nearby := q.step(firstStep) * (1 + rounding)
	rate := q.search.atMost(high.rate * farAboveBy)
	switch {
	case high.rate > low.rate*nearby, !q.history(high).slow, q.passedAbove(high) != nil:
		return 0, false
	case q.refuted() > 0, within(high.rate, rate, q.goal.Width):
		return 0, false
	}
	for _, l := range q.search.loads {
		between := l.rate > high.rate && l.rate < rate
		aboutAsHigh := l.rate >= rate && l.rate <= rate*nearby // the bracket may have moved down by as much since
		if aboutAsHigh || between && !q.history(l).slow {
			return 0, false
		}
	}
	return rate, true
}
