package search

// A broker that gathers messages into batches may be too slow at a medium rate and fast enough at a high one, where its
// batches are larger and a message costs less. So if only the latency made a rate fail, the search looks once far above
// it. If the higher rate passes, that is told (Bounds.PassedAbove), and the lower one is tried again: it may have failed by
// a hiccup. If it fails again it stays the upper bound.

// farAboveBy is the factor from a rate with too high a latency to one whose larger batches may bring it down.
const farAboveBy = 2

// rateFarAbove returns the rate far above a bracket that is worth a trial; false if there is none. low is a rate that
// passed, and high the lowest one that failed. For example, if 10,000/s passed and the latency at 10,500/s was too high,
// 21,000/s is tried.
func (g *goalSearch) rateFarAbove(low, high *triedRate) (rate float64, ok bool) {
	if !high.onlyLatency || g.passedAbove(high) != nil || g.shortTooLenient() {
		return 0, false
	}
	fourWidths := g.step(firstStep)
	if !within(low.rate, high.rate, fourWidths-1) { // the rates between them are tried first
		return 0, false
	}
	rate = g.search.limited(high.rate * farAboveBy)
	if within(high.rate, rate, g.goal.Width) { // high is next to the highest rate that may be tried
		return 0, false
	}
	for _, r := range g.tried {
		// The bracket may have moved down since a rate far above it was tried. So a rate that is a little higher tells the
		// same. In the example, with a width of 5 %, that is one up to 25,526/s.
		triedAlready := rate <= r.rate && r.rate <= rate*fourWidths*(1+rounding)
		failedForAnotherReason := high.rate < r.rate && r.rate < rate && !r.onlyLatency
		if triedAlready || failedForAnotherReason {
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
