package search

import (
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
)

// The answer to a goal is read off the rates that trials have decided. Where a bound is missing, or the
// search ended before the two were close enough, a sentence says so: "stopped after 12 trials and 20s
// before any rate failed".

// bounds returns the answer as far as it is known.
func (g *goalSearch) bounds() Bounds {
	low, high := g.confirmedBracket()
	soakFailed := g.anySoakFailed()
	if soakFailed {
		low, high = g.soakedBracket()
	}
	lowestFailed := high
	if high == nil {
		lowestFailed = g.failedShort(low)
	}
	void := g.voidBetween(low, lowestFailed)
	b := Bounds{Void: void, Undecided: g.whyUndecided(low, high, void)}
	if low != nil {
		b.Low, b.Conditional = low.rate, g.goal.conditional(low.long)
	}
	if lowestFailed == nil {
		return b
	}
	b.High = lowestFailed.rate
	if above := g.passedAbove(lowestFailed); above != nil && !soakFailed {
		b.PassedAbove = above.rate
	}
	return b
}

// voidBetween says why a rate between two bounds could not be measured; empty if all could. A bound
// that is not known is nil.
func (g *goalSearch) voidBetween(low, high *history) string {
	for _, h := range g.rates {
		inside := (low == nil || h.rate > low.rate) && (high == nil || h.rate < high.rate)
		if inside && h.voids > 0 && g.class(h) == Undecided {
			return fmt.Sprintf("at %.0f/s: %s", h.rate, h.voidReason)
		}
	}
	return ""
}

// failedShort returns the lowest rate above a lower bound whose trials so far failed; nil if there is
// none, or no lower bound. It is for searches without an upper bound, in which those trials were too
// short, or too few, to count.
func (g *goalSearch) failedShort(low *history) *history {
	if low == nil {
		return nil
	}
	for _, h := range g.rates {
		if h.rate > low.rate && !h.empty() && h.likely() == Upper {
			return h
		}
	}
	return nil
}

// whyUndecided says why bounds don't answer the goal; empty if they do. void says why a rate between
// them could not be measured; empty if all could.
func (g *goalSearch) whyUndecided(low, high *history, void string) remark.Remark {
	var reasons []remark.Remark
	add := func(format string, args ...any) { reasons = append(reasons, remark.Of(format, args...)) }
	passed, _ := g.bracket(g.likelyClass)
	after, failedShort := g.search.effort(), g.failedShort(low)
	switch {
	case low == nil && passed == nil:
		add("no rate passed")
	case low == nil:
		add("%.0f/s passed, but no rate was confirmed within %s", passed.rate, after)
	case low.soaked < g.goal.Soak:
		add("%.0f/s was not soaked for %s within %s", low.rate, g.goal.Soak, after)
	case g.search.capped(low.rate), high != nil && within(low.rate, high.rate, g.goal.Width):
		return remark.Remark{}
	case void != "": // is the reason
	case high != nil:
		add("stopped after %s before the bounds were within %.3g %%", after, g.goal.Width*100)
	case failedShort != nil:
		add("stopped after %s, when only trials too short to count had failed, at %.0f/s", after, failedShort.rate)
	default:
		add("stopped after %s before any rate failed", after)
	}
	if void != "" {
		add("void %s", void)
	}
	return remark.List(reasons, "; ")
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
