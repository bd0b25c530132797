package search

// A broker that gathers messages into batches may be too slow at a medium rate and fast enough at a high one, where its
// batches are larger and a message costs less. So if only the latency made a rate fail, the search looks once far above
// it. If the higher rate passes, that is told (Bounds.PassedAbove), and the lower one is tried again: it may have failed by
// a hiccup. If it fails again it stays the upper bound.

// farAboveBy is the factor from a rate with too high a latency to one whose larger batches may bring it down.
const farAboveBy = 2

// rateFarAbove returns the rate far above the upper end of a bracket that is worth a trial; false if there is none. The
// bracket has to be narrow, since narrowing it may move its upper end to a rate with another flaw.
//
// For example, if the latency at 10,500/s was too high and 10,000/s passed, 21,000/s is tried.
func (g *goalSearch) rateFarAbove(low, high *triedRate) (rate float64, ok bool) {
	factor := g.step(firstStep)
	isNarrow := within(low.rate, high.rate, factor-1)
	if !high.onlyLatency || !isNarrow || g.passedAbove(high) != nil || g.shortTooLenient() {
		return 0, false
	}
	rate = g.search.limited(high.rate * farAboveBy)
	if within(high.rate, rate, g.goal.Width) { // the highest rate that may be tried is no further than that
		return 0, false
	}
	// The bracket may have moved down since a rate far above it was tried: what lies up to a step above tells the same.
	highest := rate * factor * (1 + rounding)
	for _, r := range g.tried {
		triedAlready := rate <= r.rate && r.rate <= highest
		failsAnyway := high.rate < r.rate && r.rate < rate && !r.onlyLatency
		if triedAlready || failsAnyway {
			return 0, false
		}
	}
	return rate, true
}

// passedAbove returns the highest rate that passed above one that only its latency made fail; nil if there is none.
func (g *goalSearch) passedAbove(failed *triedRate) *triedRate {
	if !failed.onlyLatency {
		return nil
	}
	var highest *triedRate
	for _, r := range g.tried {
		if r.rate > failed.rate && g.trustedClass(r) == Lower {
			highest = r
		}
	}
	return highest
}

// mayBeHiccup reports whether the upper end of a bracket is worth a long trial before anything is built on it: it has had
// a long trial that did not decide, or a higher rate has passed.
func (g *goalSearch) mayBeHiccup(high *triedRate) bool {
	hadLongTrial := high.GoodLong+high.BadLong > 0
	return g.decidable(high) && (hadLongTrial || g.passedAbove(high) != nil)
}
