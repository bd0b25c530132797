package search

import (
	"cmp"
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
