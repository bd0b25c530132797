package search

import (
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
)

// bounds returns the answer to the goal as far as the trials so far tell it. For example, if 34,157/s is
// confirmed and 35,864/s rejected, these are Low and High. If trials ran out before 35,864/s was
// rejected, and its short trials failed, it is High as well, and Undecided says that they don't count.
func (g *goalSearch) bounds() Bounds {
	low, high := g.bracket(g.class)
	soakFailed := g.anySoakFailed()
	if soakFailed {
		low, high = g.bracket(g.soakedClass)
	}
	var b Bounds
	if low != nil {
		b.Low, b.Conditional = low.rate, g.goal.conditional(low.longTrials)
	}
	lowestFailed := high
	if low != nil && high == nil {
		lowestFailed = g.lowestLikelyFailed(low)
	}
	if lowestFailed != nil {
		b.High = lowestFailed.rate
		if above := g.passedAbove(lowestFailed); above != nil && !soakFailed {
			b.PassedAbove = above.rate
		}
	}
	b.Void = g.voidBetween(low, lowestFailed)
	b.Undecided = g.whyUndecided(b, low, high)
	return b
}

// lowestLikelyFailed returns the lowest rate above low that its trials so far speak against, although
// they were too short, or too few, to count; nil if there is none.
func (g *goalSearch) lowestLikelyFailed(low *history) *history {
	for _, h := range g.histories {
		if h.rate > low.rate && !h.empty() && h.likely() == Upper {
			return h
		}
	}
	return nil
}

// voidBetween says why a rate between two bounds could not be measured; empty if all could. A bound
// that is not known is nil.
func (g *goalSearch) voidBetween(low, high *history) string {
	for _, h := range g.histories {
		aboveLow := low == nil || h.rate > low.rate
		belowHigh := high == nil || h.rate < high.rate
		if aboveLow && belowHigh && h.voids > 0 && g.class(h) == Undecided {
			return fmt.Sprintf("at %.0f/s: %s", h.rate, h.voidReason)
		}
	}
	return ""
}

// whyUndecided says why the bounds b don't answer the goal, such as "stopped after 12 trials and 20s
// before any rate failed"; empty if they do. low and high are the rates that are decided, nil if there
// is none; b.High may be a rate that is not decided.
func (g *goalSearch) whyUndecided(b Bounds, low, high *history) remark.Remark {
	if missing := g.whyNoLowerBound(low); missing.Text != "" {
		if b.Void != "" {
			return remark.Of("%s; void %s", missing, b.Void)
		}
		return missing
	}
	isNarrow := high != nil && within(low.rate, high.rate, g.goal.Width)
	switch {
	case isNarrow, g.search.capped(low.rate):
		return remark.Remark{}
	case b.Void != "":
		return remark.Of("void %s", b.Void)
	case high != nil:
		return remark.Of("stopped after %s before the bounds were within %.3g %%", g.search.effort(), g.goal.Width*100)
	case b.High > 0:
		return remark.Of("stopped after %s, when only trials too short to count had failed, at %.0f/s", g.search.effort(), b.High)
	}
	return remark.Of("stopped after %s before any rate failed", g.search.effort())
}

// whyNoLowerBound says why low is not a lower bound that the goal accepts; empty if it is one.
func (g *goalSearch) whyNoLowerBound(low *history) remark.Remark {
	if low == nil {
		passed, _ := g.bracket(g.likelyClass)
		if passed == nil {
			return remark.Of("no rate passed")
		}
		return remark.Of("%.0f/s passed, but no rate was confirmed within %s", passed.rate, g.search.effort())
	}
	if low.longestPass < g.goal.Soak {
		return remark.Of("%.0f/s was not soaked for %s within %s", low.rate, g.goal.Soak, g.search.effort())
	}
	return remark.Remark{}
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
