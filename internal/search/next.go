package search

import (
	"math"
	"slices"
	"time"
)

// request returns the trial that brings the first unanswered goal closer to its answer; false if all goals are answered, or
// if no trials are left. Each further goal may use MaxTrials and Budget more than the one before it.
func (s *searcher) request() (Request, bool) {
	if s.inVoid >= voidsInARow {
		return Request{}, false
	}
	for i := range s.Goals {
		if s.trials >= s.MaxTrials*(i+1) {
			continue
		}
		if r, ok := s.next(i); ok && s.affords(i, r) {
			return r, true
		}
	}
	return Request{}, false
}

// affords estimates whether a trial for goal i ends within the budget. A search that has confirmed nothing yet may take twice
// the budget. After that it may still decide the rate that has just passed a long trial; otherwise all its trials would
// have been for nothing.
func (s *searcher) affords(i int, r Request) bool {
	budget := s.Budget * time.Duration(i+1)
	if low, _ := s.around(func(l *load) Class { return l.class(i, s.Goals[i]) }); low == nil {
		passed := func(l *load) bool { return l.rate == r.Rate && l.goals[i].GoodLong > 0 && l.goals[i].BadLong == 0 }
		if r.Kind == Confirm && slices.ContainsFunc(s.loads, passed) {
			return true
		}
		budget *= 2
	}
	return s.Budget == 0 || s.spent+r.For+s.extra <= budget
}

// next returns the trial that goal i needs; false if it needs none:
//
//  1. A rate whose trials were all void is tried again.
//  2. Once a soak has failed, only soaks follow.
//  3. Short trials bracket the capacity: one rate that passed, and a higher one that failed. They are long ones as soon as
//     short ones have proved too lenient.
//  4. More of them narrow the bracket to the goal's width.
//  5. Long trials decide its two ends, and a soak confirms the lower one.
//
// A rate that failed a long trial is decided before all but the first two, since the failure may have been a hiccup.
func (s *searcher) next(i int) (Request, bool) {
	g := s.Goals[i]
	if l := s.voidToRetry(i); l != nil {
		return s.short(g, l.rate), true
	}
	if s.anySoakFailed(i) {
		return s.soak(i, nil)
	}
	low, high := s.around(func(l *load) Class { return l.leans(i, g) })
	if high != nil && high.goals[i].BadLong+high.goals[i].GoodLong > 0 {
		if r, ok := s.decide(i, high); ok {
			return r, true
		}
	}
	trial, lenient := s.short, s.lenient(i)
	if lenient > 0 {
		trial = func(g Goal, rate float64) Request { return Request{Confirm, rate, g.Final} }
		low, high = s.around(func(l *load) Class { return l.withoutLenient(i, g) })
	}
	switch {
	case len(s.loads) == 0:
		return trial(g, s.first(g)), true
	case low == nil && s.everBroken(i):
		return Request{}, false
	case low == nil:
		// A rate leans to one side or the other, and a lenient one is an upper bound: so high is one of the loads.
		if rate := s.under(i, high, lenient); rate >= s.Floor {
			return trial(g, rate), true
		}
		return s.decide(i, high)
	case s.lastTrials(i):
		// A narrow bracket is worth nothing if neither end is confirmed.
		return s.confirm(i, low, high)
	case high == nil && !s.capped(low.rate):
		return trial(g, s.above(i, low)), true
	case high != nil && !within(low.rate, high.rate, g.Width):
		return trial(g, s.between(i, low, high)), true
	default:
		return s.confirm(i, low, high)
	}
}

// voidToRetry returns a load whose trials were all void, and fewer than voidsToPass; nil if there is none. A load that fell
// behind is not tried again: the rate that came through says where to look next, and long trials decide in the end whether
// this one is the upper bound.
func (s *searcher) voidToRetry(i int) *load {
	for _, l := range s.loads {
		_, fellBehind := l.capacity()
		if st := l.goals[i]; st.empty() && st.voids < voidsToPass && !fellBehind {
			return l
		}
	}
	return nil
}

// withoutLenient returns the class of a rate as leans does, except that short trials that passed don't count.
func (l *load) withoutLenient(i int, g Goal) Class {
	if c := l.leans(i, g); c == Upper || l.class(i, g) == Lower {
		return c
	}
	return Undecided
}

// confirm returns the long trials that turn a narrow bracket into an answer, one by one. high is nil if no rate failed.
func (s *searcher) confirm(i int, low, high *load) (Request, bool) {
	for _, l := range []*load{low, high} {
		if r, ok := s.decide(i, l); ok {
			return r, true
		}
	}
	if g := s.Goals[i]; g.Soak > 0 && low.class(i, g) == Lower {
		return s.soak(i, low)
	}
	return Request{}, false
}

// soak returns the very long trial that is to confirm a rate, first of all low. Once one has failed, only such trials count:
// shorter ones are not believed for lower rates either. From then on low is nil.
func (s *searcher) soak(i int, low *load) (Request, bool) {
	g := s.Goals[i]
	passed, failed := s.around(func(l *load) Class { return l.afterSoak(i, g) })
	var rate float64
	switch {
	case passed != nil && (failed == nil || within(passed.rate, failed.rate, g.Width)):
		return Request{}, false
	case passed != nil:
		rate = math.Sqrt(passed.rate * failed.rate)
	case low != nil:
		rate = low.rate
	case failed == nil: // the rate whose soak failed has passed one since, but other trials leave it undecided
		return Request{}, false
	default:
		rate = failed.rate / step(g, firstStep)
		if guess, ok := failed.capacity(); ok {
			rate = math.Min(rate, guess/step(g, halfWidth))
		}
	}
	return Request{Soak, rate, g.Soak}, rate >= s.Floor
}

// afterSoak returns the class of a rate if only a soak makes a lower bound, and a failed one an upper bound.
func (l *load) afterSoak(i int, g Goal) Class {
	soaked := l.goals[i].soaked >= g.Soak
	switch c := l.class(i, g); {
	case l.goals[i].soakFailed && !soaked:
		return Upper
	case c == Lower && !soaked:
		return Undecided
	default:
		return c
	}
}

// anySoakFailed reports whether a soak has failed for goal i, at any rate.
func (s *searcher) anySoakFailed(i int) bool {
	return slices.ContainsFunc(s.loads, func(l *load) bool { return l.goals[i].soakFailed })
}

// decide returns a long trial at a rate that has no class yet; false if it has one, if l is nil, or if too many trials there
// were void.
func (s *searcher) decide(i int, l *load) (Request, bool) {
	if l == nil || l.class(i, s.Goals[i]) != Undecided || l.goals[i].voids >= voidsToStop {
		return Request{}, false
	}
	return Request{Confirm, l.rate, s.Goals[i].Final}, true
}

// lastTrials reports whether goal i needs all trials that it has left, or all the time, to confirm a lower bound.
func (s *searcher) lastTrials(i int) bool {
	g := s.Goals[i]
	// The good time that makes a lower bound (Goal.Class), in full-length trials. It is a whole number but for rounding, which must
	// not make it one more.
	needed := math.Ceil(float64(g.Sum) * (1 - g.Exceed) / float64(g.Final) * (1 - rounding))
	confirmed := s.spent + time.Duration(needed)*(g.Final+s.extra)
	return s.trials+int(needed) >= s.MaxTrials*(i+1) || s.Budget > 0 && confirmed >= s.Budget*time.Duration(i+1)
}

// late reports whether half of the time that goal i may take is over and no rate is confirmed.
func (s *searcher) late(i int) bool {
	low, _ := s.around(func(l *load) Class { return l.class(i, s.Goals[i]) })
	return s.Budget > 0 && low == nil && s.spent >= s.Budget*time.Duration(2*i+1)/2
}

// few is the least number of messages that say something about a rate. At low rates a short trial lasts longer for it.
const few = 100

// short returns a short trial at a rate; a long one if it would have to be as long.
func (s *searcher) short(g Goal, rate float64) Request {
	length := max(s.Short, time.Duration(few/rate*1e9))
	if length >= g.Final {
		return Request{Confirm, rate, g.Final}
	}
	return Request{Short, rate, length}
}

// brokenOver: if a promise was broken at two rates of at least this ratio, the rate is not the cause.
const brokenOver = 8

// everBroken reports whether the promise was broken at rates so far apart that no lower rate is likely to keep it.
func (s *searcher) everBroken(i int) bool {
	var broken []float64 // rates, in ascending order as s.loads is
	for _, l := range s.loads {
		if l.goals[i].Broken {
			broken = append(broken, l.rate)
		}
	}
	return len(broken) > 0 && broken[len(broken)-1] >= brokenOver*broken[0]
}

// Rates are compared in steps of a goal's width. A search without bounds takes larger steps each time.
const (
	maxGrowth = 4    // the largest factor to which steps grow
	firstStep = 4    // widths of the first step away from a rate: its trials say nothing about how far the capacity is
	halfWidth = 0.5  // widths from a rate that is likely to be the capacity to one that is likely to pass
	keptUp    = 0.97 // a trial fell behind if less than this share of its rate came through
)

// step returns the factor between two rates that are so many widths apart.
func step(g Goal, widths float64) float64 { return math.Pow(1+g.Width, widths) }

// first returns the rate at which a search begins. A guess that is likely to be near is put in the middle of the bracket
// that will come of it: the search begins half a width below.
func (s *searcher) first(g Goal) float64 {
	begin := math.Max(s.Begin, s.Floor)
	if s.Near {
		begin /= step(g, halfWidth)
	}
	return s.bounded(math.Max(begin, s.Floor))
}

// above returns the rate to try when no rate has failed yet: twice as far, in widths, as the last step went.
func (s *searcher) above(i int, low *load) float64 {
	g := s.Goals[i]
	least := step(g, firstStep)
	if s.Near {
		least = step(g, 1)
	}
	var before *load
	for _, l := range s.loads {
		if l.rate < low.rate && l.leans(i, g) == Lower {
			before = l
		}
	}
	if before != nil {
		least = math.Max(least, math.Min(math.Pow(low.rate/before.rate, 2), maxGrowth))
	}
	return s.bounded(low.rate * least)
}

// under returns the rate to try when no rate has passed yet. If the trial fell behind, that is a little below the rate that
// came through. Otherwise it is twice as far, in widths, as the last step went; after short trials that were too lenient
// (lenient > 0) the first step is one width.
func (s *searcher) under(i int, high *load, lenient int) float64 {
	g := s.Goals[i]
	if guess, ok := high.capacity(); ok {
		return math.Max(guess/step(g, halfWidth), math.Min(s.Floor, high.rate/2))
	}
	if lenient > 0 {
		widths := math.Pow(2, float64(lenient-1))
		if s.late(i) {
			widths = math.Max(widths, firstStep)
		}
		return high.rate / math.Min(step(g, widths), maxGrowth)
	}
	least := step(g, firstStep)
	for _, l := range s.loads {
		if l.rate > high.rate { // the next one up; all of them have failed
			least = math.Max(least, math.Min(math.Pow(l.rate/high.rate, 2), maxGrowth))
			break
		}
	}
	return high.rate / least
}

// lenient returns how many rates long trials rejected and no short one did. It is 0 unless a short trial passed at one of
// them: only that shows that short trials are too lenient.
func (s *searcher) lenient(i int) int {
	rejected, shortPassed := 0, false
	for _, l := range s.loads {
		if t := l.goals[i]; t.BadShort == 0 && t.BadLong > 0 && l.class(i, s.Goals[i]) == Upper {
			rejected++
			shortPassed = shortPassed || t.GoodShort > 0
		}
	}
	if !shortPassed {
		return 0
	}
	return rejected
}

// capacity returns the rate that came through at a load, as a guess of the capacity; false if the trial did not fall behind,
// so that the broker may have carried more.
func (l *load) capacity() (guess float64, fellBehind bool) {
	return l.through, l.through > 0 && l.through < keptUp*l.rate
}

// between returns the rate to try between two bounds. If the rate that came through at the upper bound says where the
// capacity is, that is half a width below it, and then a whole width above that. Otherwise, or if that guess was wrong, it
// is the middle on a logarithmic scale: rates are compared by their ratio.
func (s *searcher) between(i int, low, high *load) float64 {
	g := s.Goals[i]
	if guess, ok := high.capacity(); ok && guess > low.rate {
		if below := guess / step(g, halfWidth); below > low.rate*step(g, 0.1) {
			return below
		}
		if up := low.rate * step(g, 1); up < high.rate/step(g, 0.1) {
			return up
		}
	}
	return math.Sqrt(low.rate * high.rate)
}
