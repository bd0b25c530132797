package search

import (
	"cmp"
	"slices"
	"time"
)

// goalSearch is the search for the answer to one goal. It keeps what the trials at each rate have shown.
// For example, short trials passed at 34,157/s and failed at 35,864/s, a width of 5 % above. This bracket
// is narrow, but only likely, because short trials seldom decide. So long trials at both rates follow.
type goalSearch struct {
	search *searcher
	goal   Goal

	maxTrials int           // how many trials the whole search may run until this goal is answered
	maxTime   time.Duration // how long these may take; not read if Plan.Budget is 0
	histories []*history    // one for each rate that was tried, by rising rate
}

// history is what the trials at a rate have shown for one goal. Void trials are only counted.
type history struct {
	rate        float64
	Tally                     // how long its trials lasted, by verdict
	through     float64       // Answer.Through of the last trial; 0: not known
	longTrials  []served      // those that were not void
	longestPass time.Duration // length of the longest trial that passed
	soakFailed  bool
	onlyLatency bool   // the last trial that failed did so by its latency alone
	voids       int    // number of void trials
	voidReason  string // of the last of them
}

// at returns the history of a rate, and begins it if the rate was not tried yet.
func (g *goalSearch) at(rate float64) *history {
	i, found := slices.BinarySearchFunc(g.histories, rate, func(h *history, r float64) int { return cmp.Compare(h.rate, r) })
	if !found {
		g.histories = slices.Insert(g.histories, i, &history{rate: rate})
	}
	return g.histories[i]
}

// add adds a trial to the history of its rate.
func (g *goalSearch) add(r Request, a Answer, judgement Judgement) {
	h := g.at(r.Rate)
	h.through = a.Through
	h.Tally.add(g.goal, r.For, judgement)
	if judgement.Verdict != Void && r.For >= g.goal.FinalDuration {
		h.longTrials = append(h.longTrials, served{rate: a.Served, length: r.For})
	}
	switch judgement.Verdict {
	case Void:
		h.voids++
		h.voidReason = judgement.Reason
	case Pass:
		h.longestPass = max(h.longestPass, r.For)
	case Fail:
		h.onlyLatency = judgement.OnlyLatency
		h.soakFailed = h.soakFailed || (r.Kind == Soak && g.goal.Soak > 0)
	}
}

// The search classes a rate in four ways:
//
//	class         what its trials decide
//	likelyClass   while they don't decide: what they suggest
//	trustedClass  the same, but short trials count no more once they have proved too lenient
//	soakedClass   what soaks decide: only a soak makes a lower bound

func (g *goalSearch) class(h *history) Class { return g.goal.Class(h.Tally) }

// likelyClass takes a rate that can't be measured for an upper bound: the cause is likely to grow with the rate.
func (g *goalSearch) likelyClass(h *history) Class {
	switch c := g.class(h); {
	case c != Undecided:
		return c
	case h.empty(), h.voids >= maxVoids:
		return Upper
	}
	return h.likely()
}

func (g *goalSearch) trustedClass(h *history) Class {
	c := g.likelyClass(h)
	onlySuggested := c != g.class(h)
	if c == Lower && onlySuggested && g.shortTooLenient() {
		return Undecided
	}
	return c
}

func (g *goalSearch) soakedClass(h *history) Class {
	c := g.class(h)
	switch {
	case h.longestPass >= g.goal.Soak:
		return c
	case h.soakFailed:
		return Upper
	case c == Lower:
		return Undecided
	}
	return c
}

// bracket returns the lowest rate that is an upper bound by one of the four ways, and the highest lower
// bound below it; nil if there is none.
func (g *goalSearch) bracket(class func(*history) Class) (low, high *history) {
	for _, h := range g.histories {
		switch class(h) {
		case Upper:
			return low, h
		case Lower:
			low = h
		case Undecided:
		}
	}
	return low, nil
}

// shortTooLenient reports whether long trials have rejected a rate that passed a short one: this broker
// holds out for a second, but not for five.
func (g *goalSearch) shortTooLenient() bool {
	return slices.ContainsFunc(g.histories, func(h *history) bool { return g.onlyLongRejected(h) && h.GoodShort > 0 })
}

// onlyLongRejected reports whether long trials rejected a rate and no short one failed at it.
func (g *goalSearch) onlyLongRejected(h *history) bool {
	return h.BadLong > 0 && h.BadShort == 0 && g.class(h) == Upper
}

// passedAbove returns the highest rate that passed above one that only its latency made fail; nil if there is none.
func (g *goalSearch) passedAbove(failed *history) *history {
	if !failed.onlyLatency {
		return nil
	}
	var highest *history
	for _, h := range g.histories {
		if h.rate > failed.rate && g.trustedClass(h) == Lower {
			highest = h
		}
	}
	return highest
}

// anySoakFailed reports whether a soak has failed at any rate.
func (g *goalSearch) anySoakFailed() bool {
	return slices.ContainsFunc(g.histories, func(h *history) bool { return h.soakFailed })
}

// brokenOver is the ratio of two rates so far apart that the rate is not what breaks a promise at both.
const brokenOver = 8

// everBroken reports whether the promise was broken at rates so far apart that no lower rate is likely to keep it.
func (g *goalSearch) everBroken() bool {
	var broken []float64 // rates, in ascending order
	for _, h := range g.histories {
		if h.Broken {
			broken = append(broken, h.rate)
		}
	}
	return len(broken) > 0 && broken[len(broken)-1] >= brokenOver*broken[0]
}
