package search

import (
	"math"
	"time"
)

// Each goal may use Plan.MaxTrials trials and Plan.Budget of time, and what the goals before it have left. So maxTrials
// and maxTime are limits on the whole search: with 30 trials for each of two goals, the second is searched until 60 were
// run.

// trialsLeft returns how many trials are left for the goal. Void ones say nothing about the broker and don't count,
// but only up to maxTrials of them: a search whose trials are all void has to end as well.
func (g *goalSearch) trialsLeft() int {
	uncounted := min(g.search.voids, g.maxTrials)
	return g.maxTrials - (g.search.trials - uncounted)
}

// timeLeft returns how much time is left for the goal: below 0 if it has used more, math.MaxInt64 if there is no limit.
func (g *goalSearch) timeLeft() time.Duration {
	if g.search.plan.Budget == 0 {
		return math.MaxInt64
	}
	return g.maxTime - g.search.spent
}

// needsLastTrials reports whether the goal needs all trials that it has left, or all the time, to
// confirm a lower bound. For example, if two long trials confirm, it needs the last two.
func (g *goalSearch) needsLastTrials() bool {
	needed := g.goal.confirmations()
	timeNeeded := time.Duration(needed) * (g.goal.FinalDuration + g.search.overhead)
	return g.trialsLeft() <= needed || g.timeLeft() <= timeNeeded
}

// affords estimates whether there is time for a trial. A goal for which nothing is confirmed yet may take one budget
// more. After that it may still decide a rate that has passed all its long trials: otherwise these would have been for
// nothing.
func (g *goalSearch) affords(r Request) bool {
	leftAfter := g.timeLeft() - (r.For + g.search.overhead)
	if leftAfter >= 0 {
		return true
	}
	if g.anyConfirmed() {
		return false
	}
	if leftAfter >= -g.search.plan.Budget {
		return true
	}
	return r.Kind == Confirm && g.passedAllLong(r.Rate)
}

// passedAllLong reports whether a rate had long trials, and has passed all of them.
func (g *goalSearch) passedAllLong(rate float64) bool {
	for _, r := range g.tried {
		if r.rate == rate {
			return r.GoodLong > 0 && r.BadLong == 0
		}
	}
	return false
}

// halfBudgetSpent reports whether half of this goal's own budget is spent and no rate is confirmed.
func (g *goalSearch) halfBudgetSpent() bool {
	return g.timeLeft() <= g.search.plan.Budget/2 && !g.anyConfirmed()
}

// anyConfirmed reports whether the goal has a lower bound.
func (g *goalSearch) anyConfirmed() bool {
	low, _ := g.bracket(g.decidedClass)
	return low != nil
}
