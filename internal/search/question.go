package search

import (
	"fmt"
	"slices"
	"time"
)

// question is one goal of a search, seen through the trials that were run so far.
type question struct {
	search *searcher
	goal   Goal
	index  int // in Plan.Goals
}

func (s *searcher) question(i int) question { return question{search: s, goal: s.Goals[i], index: i} }

// standing returns what the trials at a rate have shown for this goal.
func (q question) standing(l *load) *standing { return &l.goals[q.index] }

// class returns the class of a rate.
func (q question) class(l *load) Class { return q.goal.Class(q.standing(l).Tally) }

// likely returns the class of a rate, or its likely class while its trials don't decide. A rate whose trials were all void is
// likely an upper bound.
func (q question) likely(l *load) Class {
	if c := q.class(l); c != Undecided {
		return c
	}
	if st := q.standing(l); st.empty() || st.voids >= maxVoids {
		return Upper
	}
	return q.standing(l).likely()
}

// believed returns the likely class of a rate. Once long trials have refuted short ones that passed, short ones that passed are not
// believed at any rate.
func (q question) believed(l *load) Class {
	c := q.likely(l)
	if c == Lower && q.class(l) != Lower && q.refuted() > 0 {
		return Undecided
	}
	return c
}

// afterSoak returns the class of a rate if only a soak makes a lower bound, and a failed one an upper bound.
func (q question) afterSoak(l *load) Class {
	soaked := q.standing(l).soaked >= q.goal.Soak
	switch c := q.class(l); {
	case q.standing(l).soakFailed && !soaked:
		return Upper
	case c == Lower && !soaked:
		return Undecided
	default:
		return c
	}
}

// around returns the lowest rate whose class is Upper, and the highest rate below it whose class is Lower; nil if there is
// none.
func (q question) around(class func(*load) Class) (low, high *load) {
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
		if t := q.standing(l).Tally; t.BadShort == 0 && t.BadLong > 0 && q.goal.Class(t) == Upper {
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
	if !q.standing(failed).slow {
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
	return slices.ContainsFunc(q.search.loads, func(l *load) bool { return q.standing(l).soakFailed })
}

// brokenOver: if a promise was broken at two rates of at least this ratio, the rate is not the cause.
const brokenOver = 8

// everBroken reports whether the promise was broken at rates so far apart that no lower rate is likely to keep it.
func (q question) everBroken() bool {
	var broken []float64 // rates, in ascending order
	for _, l := range q.search.loads {
		if q.standing(l).Broken {
			broken = append(broken, l.rate)
		}
	}
	return len(broken) > 0 && broken[len(broken)-1] >= brokenOver*broken[0]
}

// bounds returns the answer as far as it is known.
func (q question) bounds() Bounds {
	class, soakFailed := q.class, q.anySoakFailed()
	if soakFailed {
		class = q.afterSoak
	}
	low, high := q.around(class)
	var b Bounds
	if low != nil {
		b.Low, b.Conditional = low.rate, q.goal.conditional(q.standing(low).long)
	}
	if high != nil {
		b.High = high.rate
	}
	b.Void = q.voidBetween(b.Low, b.High)
	b.Undecided = q.undecided(b)
	if high == nil {
		high = q.failedShort(b.Low)
	}
	if high == nil {
		return b
	}
	b.High = high.rate
	if above := q.passedAbove(high); above != nil && !soakFailed {
		b.PassedAbove = above.rate
	}
	return b
}

// voidBetween says why a rate between two bounds could not be measured; empty if all could. high is 0 if there is no upper bound.
func (q question) voidBetween(low, high float64) string {
	for _, l := range q.search.loads {
		st := q.standing(l)
		if st.voids > 0 && l.rate > low && (high == 0 || l.rate < high) && q.class(l) == Undecided {
			return fmt.Sprintf("at %.0f/s: %s", l.rate, st.voidReason)
		}
	}
	return ""
}

// failedShort returns the lowest rate above a lower bound whose trials so far failed; nil if there is none, or no lower bound.
// It is for searches without an upper bound, in which those trials were too short, or too few, to count.
func (q question) failedShort(low float64) *load {
	if low == 0 {
		return nil
	}
	for _, l := range q.search.loads {
		if st := q.standing(l); l.rate > low && !st.empty() && st.likely() == Upper {
			return l
		}
	}
	return nil
}

// undecided says why bounds don't answer the goal; empty if they do.
func (q question) undecided(b Bounds) string {
	why := q.openBounds(b)
	switch {
	case b.Void == "" || q.answered(b):
		return why
	case why == "":
		return "void " + b.Void
	}
	return why + "; void " + b.Void
}

// answered reports whether the lower bound is soaked as long as asked, and the upper one near enough or not to be had.
func (q question) answered(b Bounds) bool {
	if b.Low == 0 || q.standing(q.search.loadAt(b.Low)).soaked < q.goal.Soak {
		return false
	}
	return q.search.capped(b.Low) || b.High > 0 && within(b.Low, b.High, q.goal.Width)
}

// openBounds says which bound is missing, or that they are too wide apart; empty if neither, or if a void trial is the reason.
func (q question) openBounds(b Bounds) string {
	after := q.search.effort()
	switch {
	case b.Low == 0:
		if passed, _ := q.around(q.likely); passed != nil {
			return fmt.Sprintf("%.0f/s passed, but no rate was confirmed within %s", passed.rate, after)
		}
		return "no rate passed"
	case q.standing(q.search.loadAt(b.Low)).soaked < q.goal.Soak:
		return fmt.Sprintf("%.0f/s was not soaked for %s within %s", b.Low, q.goal.Soak, after)
	case q.answered(b), b.Void != "":
		return ""
	case b.High > 0:
		return fmt.Sprintf("stopped after %s before the bounds were within %g %%", after, q.goal.Width*100)
	}
	if failed := q.failedShort(b.Low); failed != nil {
		return fmt.Sprintf("stopped after %s, when only trials too short to count had failed, at %.0f/s", after, failed.rate)
	}
	return fmt.Sprintf("stopped after %s before any rate failed", after)
}

// effort says how many trials were run, and how long they took if that is bounded: "12 trials and 20s".
func (s *searcher) effort() string {
	text := fmt.Sprintf("%d trials", s.trials)
	if s.trials == 1 {
		text = "1 trial"
	}
	if s.Budget > 0 {
		text += fmt.Sprintf(" and %s", s.spent.Round(time.Second))
	}
	return text
}
