package search

import (
	"cmp"
	"slices"
	"time"
)

// goalSearch is the search for the answer to one goal. By its trials a rate is a lower bound
// (sustained), an upper bound (not sustained) or undecided. Short trials seldom decide, so the search
// goes by the likely class of each rate until it has a narrow bracket, and decides its ends then.
type goalSearch struct {
	search *searcher
	goal   Goal
	// Both limits are of the whole search, while it searches for this goal: every trial counts for every
	// goal, and each goal may use what the goals before it have left.
	maxTrials   int
	spentAtMost time.Duration // 0: no bound
	rates       []*history    // of the rates that were tried, in ascending order
}

// history is what the trials at a rate have shown for one goal. Void trials are only counted.
type history struct {
	rate float64
	Tally
	through     float64       // messages per second that came through in the last trial; 0: none, or not known
	long        []served      // trials of full length that were not void
	soaked      time.Duration // length of the longest trial that passed
	soakFailed  bool
	onlyLatency bool   // the last trial that failed did so by its latency alone
	voids       int    // number of void trials
	voidReason  string // of the last of them
}

// at returns the history of a rate; a new one if the rate was not tried yet.
func (g *goalSearch) at(rate float64) *history {
	i, found := slices.BinarySearchFunc(g.rates, rate, func(h *history, r float64) int { return cmp.Compare(h.rate, r) })
	if !found {
		g.rates = slices.Insert(g.rates, i, &history{rate: rate})
	}
	return g.rates[i]
}

// book adds a trial to the history of its rate.
func (g *goalSearch) book(r Request, a Answer, judgement Judgement) {
	h := g.at(r.Rate)
	h.through = a.Through
	h.add(g.goal, r.For, judgement)
	if judgement.Verdict != Void && r.For >= g.goal.FinalDuration {
		h.long = append(h.long, served{rate: a.Served, length: r.For})
	}
	switch judgement.Verdict {
	case Void:
		h.voids++
		h.voidReason = judgement.Reason
	case Pass:
		h.soaked = max(h.soaked, r.For)
	case Fail:
		h.onlyLatency = judgement.OnlyLatency
		h.soakFailed = h.soakFailed || (r.Kind == Soak && g.goal.Soak > 0)
	}
}

// class returns the class of a rate.
func (g *goalSearch) class(h *history) Class { return g.goal.Class(h.Tally) }

// likelyClass returns the class of a rate, or its likely class while its trials don't decide. A rate
// that can't be measured counts as an upper bound: the cause is likely to grow with the rate.
func (g *goalSearch) likelyClass(h *history) Class {
	switch c := g.class(h); {
	case c != Undecided:
		return c
	case h.empty(), h.voids >= maxVoids:
		return Upper
	}
	return h.likely()
}

// trustedClass returns the likely class of a rate, by long trials alone once they have rejected a rate
// that passed a short one: this broker holds out for a second, but not for five.
func (g *goalSearch) trustedClass(h *history) Class {
	c := g.likelyClass(h)
	if c == Lower && g.class(h) != Lower && g.refuted() > 0 {
		return Undecided
	}
	return c
}

// soakedClass returns the class of a rate if only a soak makes a lower bound, and a failed one an
// upper bound.
func (g *goalSearch) soakedClass(h *history) Class {
	c := g.class(h)
	switch {
	case h.soaked >= g.goal.Soak:
		return c
	case h.soakFailed:
		return Upper
	case c == Lower:
		return Undecided
	}
	return c
}

// A bracket is the lowest rate that is an upper bound, and the highest lower bound below it; nil if
// there is none.

// confirmedBracket is the bracket of the rates that are decided.
func (g *goalSearch) confirmedBracket() (low, high *history) { return g.bracket(g.class) }

// soakedBracket is the bracket that soaks have decided.
func (g *goalSearch) soakedBracket() (low, high *history) { return g.bracket(g.soakedClass) }

// likelyBracket is the bracket that the trials so far suggest. One end at least is not nil if a rate
// was tried: short trials are distrusted only if long ones have rejected a rate.
func (g *goalSearch) likelyBracket() (low, high *history) { return g.bracket(g.trustedClass) }

func (g *goalSearch) bracket(class func(*history) Class) (low, high *history) {
	for _, h := range g.rates {
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

// refuted returns how many rates long trials rejected and no short one did. It is 0 unless a short
// trial passed at one of them: only that shows that short trials are too lenient.
func (g *goalSearch) refuted() int {
	rejected, shortPassed := 0, false
	for _, h := range g.rates {
		if h.BadShort == 0 && h.BadLong > 0 && g.class(h) == Upper {
			rejected++
			shortPassed = shortPassed || h.GoodShort > 0
		}
	}
	if !shortPassed {
		return 0
	}
	return rejected
}

// passedAbove returns the highest rate that passed above one that only its latency made fail; nil if
// there is none.
func (g *goalSearch) passedAbove(failed *history) *history {
	if !failed.onlyLatency {
		return nil
	}
	var highest *history
	for _, h := range g.rates {
		if h.rate > failed.rate && g.trustedClass(h) == Lower {
			highest = h
		}
	}
	return highest
}

// anySoakFailed reports whether a soak has failed at any rate.
func (g *goalSearch) anySoakFailed() bool {
	return slices.ContainsFunc(g.rates, func(h *history) bool { return h.soakFailed })
}

// brokenOver: if a promise was broken at two rates of at least this ratio, the rate is not the cause.
const brokenOver = 8

// everBroken reports whether the promise was broken at rates so far apart that no lower rate is likely
// to keep it.
func (g *goalSearch) everBroken() bool {
	var broken []float64 // rates, in ascending order
	for _, h := range g.rates {
		if h.Broken {
			broken = append(broken, h.rate)
		}
	}
	return len(broken) > 0 && broken[len(broken)-1] >= brokenOver*broken[0]
}
