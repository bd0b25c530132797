package search

import (
	"math"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
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

// bounds returns the answer to the goal as far as the trials so far tell it. For example, if 34,157/s is confirmed and
// 35,864/s rejected, these are Low and High. If the trials ran out before 35,864/s was rejected, but its short trials
// failed, it is High as well, and Undecided says that they don't count.
func (g *goalSearch) bounds() Bounds {
	var b Bounds
	low, high := g.decidedBounds()
	if low != nil {
		b.Low, b.Held, b.Conditional = low.rate, low.longestPass, g.goal.conditional(low.longTrials)
	}
	upper := high
	if high == nil && low != nil {
		upper = g.lowestFailedAbove(low)
	}
	if upper != nil {
		b.High = upper.rate
	}
	b.Void = g.voidBetween(low, upper)
	switch {
	case low == nil:
		b.Undecided = withVoid(g.whyNoneConfirmed(), b.Void)
	case low.longestPass < g.goal.Soak:
		notSoaked := remark.Of("%.0f/s was not soaked for %s within %s", low.rate, g.goal.Soak, g.search.effort())
		b.Undecided = withVoid(notSoaked, b.Void)
	default:
		b.Undecided = g.whyWide(b, high != nil)
	}
	return b
}

// decidedBounds returns the rates that the trials decide: the lowest rate that the broker does not sustain (high), and the
// highest one below it that it does (low); nil if none is decided. Once a soak has failed, only a soak can decide low.
func (g *goalSearch) decidedBounds() (low, high *triedRate) {
	if g.anySoakFailed() {
		return g.bracket(g.soakedClass)
	}
	return g.bracket(g.decidedClass)
}

// lowestFailedAbove returns the lowest rate above low whose trials have mostly failed, though they were too short, or too
// few, to decide it; nil if there is none.
func (g *goalSearch) lowestFailedAbove(low *triedRate) *triedRate {
	for _, r := range g.tried {
		if r.rate > low.rate && !r.onlyVoid() && !r.mostlyPassed() {
			return r
		}
	}
	return nil
}

// whyNoneConfirmed says why no rate is a lower bound.
func (g *goalSearch) whyNoneConfirmed() remark.Remark {
	passed, _ := g.bracket(g.likelyClass)
	if passed == nil {
		return remark.Of("no rate passed")
	}
	return remark.Of("%.0f/s passed, but no rate was confirmed within %s", passed.rate, g.search.effort())
}

// whyWide says why the bounds are further apart than the goal asks, such as "stopped after 12 trials and 20s before any
// rate failed"; empty if they are not. b.Low is decided. If b.High is not, it is a rate that failed short trials, or 0.
func (g *goalSearch) whyWide(b Bounds, isHighDecided bool) remark.Remark {
	isNarrow := isHighDecided && within(b.Low, b.High, g.goal.Width)
	switch {
	case isNarrow, g.search.capped(b.Low):
		return remark.Remark{}
	case b.Void != "":
		return remark.Of("void %s", b.Void)
	case isHighDecided:
		return remark.Of("stopped after %s before the bounds were within %.3g %%", g.search.effort(), g.goal.Width*100)
	case b.High > 0:
		return remark.Of("stopped after %s, when only trials too short to count had failed, at %.0f/s",
			g.search.effort(), b.High)
	}
	return remark.Of("stopped after %s before any rate failed", g.search.effort())
}

// withVoid adds Bounds.Void to the reason why a bound is unknown, if it is not empty.
func withVoid(why remark.Remark, void string) remark.Remark {
	if void == "" {
		return why
	}
	return remark.Of("%s; void %s", why, void)
}

// effort says how many trials were run, and how long they took if that is bounded: "12 trials and 20s".
func (s *searcher) effort() remark.Remark {
	trials := remark.Of("%d trials", s.trials)
	if s.trials == 1 {
		trials = remark.Of("1 trial")
	}
	if s.plan.Budget == 0 {
		return trials
	}
	return remark.Of("%s and %s", trials, s.spent.Round(time.Second))
}
