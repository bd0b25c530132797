package search

import "slices"

// question is one goal of a search, and what the trials so far say about it. A rate is a lower bound (sustained), an upper bound (not
// sustained) or undecided. While the trials at a rate do not decide, the search goes by its likely class: it looks for a bracket of
// likely bounds with cheap short trials first, and decides the two with long trials at the end.
type question struct {
	search *searcher
	goal   Goal
	index  int // in Plan.Goals
}

func (s *searcher) question(i int) question { return question{search: s, goal: s.Goals[i], index: i} }

// history returns what the trials at a rate have shown for this goal.
func (q question) history(l *load) *history { return &l.goals[q.index] }

// class returns the class of a rate.
func (q question) class(l *load) Class { return q.goal.Class(q.history(l).Tally) }

// likely returns the class of a rate, or its likely class while its trials don't decide. A rate whose trials were all void counts as
// an upper bound: the cause is likely to grow with the rate.
func (q question) likely(l *load) Class {
	if c := q.class(l); c != Undecided {
		return c
	}
	if h := q.history(l); h.empty() || h.voids >= maxVoids {
		return Upper
	}
	return q.history(l).likely()
}

// believed returns the likely class of a rate. Once a long trial has failed where a short one passed, a pass of short trials alone is
// not believed at any rate: this broker holds out for a second, but not for five.
func (q question) believed(l *load) Class {
	c := q.likely(l)
	if c == Lower && q.class(l) != Lower && q.refuted() > 0 {
		return Undecided
	}
	return c
}

// afterSoak returns the class of a rate if only a soak makes a lower bound, and a failed one an upper bound.
func (q question) afterSoak(l *load) Class {
	soaked := q.history(l).soaked >= q.goal.Soak
	switch c := q.class(l); {
	case q.history(l).soakFailed && !soaked:
		return Upper
	case c == Lower && !soaked:
		return Undecided
	default:
		return c
	}
}

// bracket returns the lowest rate whose class is Upper, and the highest rate below it whose class is Lower; nil if there is
// none.
func (q question) bracket(class func(*load) Class) (low, high *load) {
	for _, l := range q.search.loads {
		switch class(l) {
		case Upper:
			return low, l
		case Lower:
			low = l
		case Undecided:
		}
	}
	return low, nil
}

// refuted returns how many rates long trials rejected and no short one did. It is 0 unless a short trial passed at one of
// them: only that shows that short trials are too lenient.
func (q question) refuted() int {
	rejected, shortPassed := 0, false
	for _, l := range q.search.loads {
		if t := q.history(l).Tally; t.BadShort == 0 && t.BadLong > 0 && q.goal.Class(t) == Upper {
			rejected++
			shortPassed = shortPassed || t.GoodShort > 0
		}
	}
	if !shortPassed {
		return 0
	}
	return rejected
}

// passedAbove returns the highest rate that passed above one that only its latency made fail; nil if there is none.
func (q question) passedAbove(failed *load) *load {
	if !q.history(failed).slow {
		return nil
	}
	var highest *load
	for _, l := range q.search.loads {
		if l.rate > failed.rate && q.believed(l) == Lower {
			highest = l
		}
	}
	return highest
}

// anySoakFailed reports whether a soak has failed at any rate.
func (q question) anySoakFailed() bool {
	return slices.ContainsFunc(q.search.loads, func(l *load) bool { return q.history(l).soakFailed })
}

// brokenOver: if a promise was broken at two rates of at least this ratio, the rate is not the cause.
const brokenOver = 8

// everBroken reports whether the promise was broken at rates so far apart that no lower rate is likely to keep it.
func (q question) everBroken() bool {
	var broken []float64 // rates, in ascending order
	for _, l := range q.search.loads {
		if q.history(l).Broken {
			broken = append(broken, l.rate)
		}
	}
	return len(broken) > 0 && broken[len(broken)-1] >= brokenOver*broken[0]
}
