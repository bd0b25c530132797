package search

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// goalSearch is the search for the answer to one goal. It remembers what the trials at each rate have shown, the trials for other
// goals included, and chooses the goal's next trial by that (next).
type goalSearch struct {
	search    *searcher // what the goals of a search share
	goal      Goal
	maxTrials int           // how many trials the whole search may run until this goal is answered
	maxTime   time.Duration // how long these may take; not read if Plan.Budget is 0
	tried     []*triedRate  // by rising rate
	broken    *triedRate    // rate whose last trial was the first there to break a promise; nil if none
}

// triedRate is a rate at which trials were run, and what they have shown for one goal. Of void trials, which show
// nothing, it only keeps the number and the last reason.
type triedRate struct {
	rate        float64       // messages per second
	Tally                     // how long its trials lasted, by verdict
	through     float64       // Answer.Through of the last trial; 0: not known
	longTrials  []served      // those that were not void
	longestPass time.Duration // length of the longest trial that passed
	soakFailed  bool
	outdated    bool // its short trials failed when the broker may have been cold: see outdateFailures
	renewed     bool // it was outdated once
	voids       int
	longVoids   int // of these
	voidReason  string
}

// onlyVoid reports whether all trials at a rate were void.
func (r *triedRate) onlyVoid() bool { return r.Tally == Tally{} }

// at returns what is known of a rate; it adds the rate if it is new.
func (g *goalSearch) at(rate float64) *triedRate {
	byRate := func(r *triedRate, rate float64) int { return cmp.Compare(r.rate, rate) }
	i, found := slices.BinarySearchFunc(g.tried, rate, byRate)
	if !found {
		g.tried = slices.Insert(g.tried, i, &triedRate{rate: rate})
	}
	return g.tried[i]
}

// add adds a trial to what is known of its rate. judgement is the one for this goal.
func (g *goalSearch) add(request Request, answer Answer, judgement Judgement) {
	if g.broken != nil && answer.CameLate {
		g.broken.Broken = false
	}
	r := g.at(request.Rate)
	if r.outdated && judgement.Verdict != Void {
		r.Tally, r.outdated, r.renewed = Tally{}, false, true
	}
	r.through = answer.Through
	wasBroken := r.Broken
	r.Tally.add(g.goal, request.For, judgement)
	g.broken = nil
	if r.Broken && !wasBroken {
		g.broken = r
	}
	if judgement.Verdict != Void && request.For >= g.goal.FinalDuration {
		r.longTrials = append(r.longTrials, served{rate: answer.Served, length: request.For})
	}
	switch judgement.Verdict {
	case Void:
		r.voids++
		if request.For >= g.goal.FinalDuration {
			r.longVoids++
		}
		r.voidReason = judgement.Reason.Text
	case Pass:
		r.longestPass = max(r.longestPass, request.For)
		if request.For >= g.goal.FinalDuration && g.decidedClass(r) == Lower {
			g.outdateFailures()
		}
	case Fail:
		// For a goal without a soak, the soak of another goal is just a long trial.
		if request.Kind == Soak && g.goal.Soak > 0 {
			r.soakFailed = true
		}
	}
}

// brokenOver is the ratio of two rates so far apart that the rate is not what breaks a promise at both.
const brokenOver = 8

// everBroken reports whether the broker broke its promise at two rates so far apart that it is not likely to keep it at
// a lower rate either. For example, it lost confirmed messages at 800/s and at 100/s.
func (g *goalSearch) everBroken() bool {
	var broken []float64 // rates, in ascending order
	for _, r := range g.tried {
		if r.Broken {
			broken = append(broken, r.rate)
		}
	}
	return len(broken) > 0 && broken[len(broken)-1] >= brokenOver*broken[0]
}

// The class of a rate says whether the broker sustains it (Lower), does not (Upper), or may or may not (Undecided). The
// result of a search counts only what trials decide. To choose the next trial, what they suggest is good enough. So there
// are three ways to class a rate. For example, if it takes two long trials to decide:
//
//	trials at the rate      decidedClass   likelyClass   trustedClass, once short trials were too lenient
//	two long ones passed    Lower          Lower         Lower
//	one short one passed    Undecided      Lower         Undecided
//	one short one failed    Undecided      Upper         Upper
//	void ones alone         Undecided      Upper         Upper
//	outdated ones alone     Undecided      Undecided     Undecided

// decidedClass is what the trials at a rate decide.
func (g *goalSearch) decidedClass(r *triedRate) Class { return g.goal.Class(r.Tally) }

// likelyClass is what the trials at a rate decide or, while they don't, what they suggest. A rate that can't be measured
// is likely to be an upper bound: what makes its trials void mostly grows with the rate.
func (g *goalSearch) likelyClass(r *triedRate) Class {
	if class := g.decidedClass(r); class != Undecided || r.outdated {
		return class
	}
	if r.mostlyPassed() && r.voids < maxVoids {
		return Lower
	}
	return Upper
}

// trustedClass is the likely class, which guides the search. But once short trials have proved too lenient, a rate that is only
// likely to be sustained counts as undecided.
func (g *goalSearch) trustedClass(r *triedRate) Class {
	class := g.likelyClass(r)
	if class == Lower && g.decidedClass(r) == Undecided && g.shortTooLenient() {
		return Undecided
	}
	return class
}

// bracket returns the lowest of the tried rates that is Upper (high), and the highest one below it that is Lower (low);
// nil where there is none. classOf is one of the ways to class a rate, such as g.decidedClass.
func (g *goalSearch) bracket(classOf func(*triedRate) Class) (low, high *triedRate) {
	for _, r := range g.tried {
		switch classOf(r) {
		case Upper:
			return low, r
		case Lower:
			low = r
		case Undecided: // lies inside the bracket, or below it
		}
	}
	return low, nil
}

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
