package search

import (
	"time"

	"github.com/brokermark/brokermark/internal/remark"
)

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
