package search

import (
	"fmt"
	"time"
)

// The answer to a goal is read off the rates that trials have decided. Where a bound is missing, or the search ended before the two
// were close enough, a sentence says so: "stopped after 12 trials and 20s before any rate failed".

// bounds returns the answer as far as it is known.
func (q question) bounds() Bounds {
	class, soakFailed := q.class, q.anySoakFailed()
	if soakFailed {
		class = q.afterSoak
	}
	low, high := q.bracket(class)
	var b Bounds
	if low != nil {
		b.Low, b.Conditional = low.rate, q.goal.conditional(q.history(low).long)
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
		h := q.history(l)
		if h.voids > 0 && l.rate > low && (high == 0 || l.rate < high) && q.class(l) == Undecided {
			return fmt.Sprintf("at %.0f/s: %s", l.rate, h.voidReason)
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
		if h := q.history(l); l.rate > low && !h.empty() && h.likely() == Upper {
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
	if b.Low == 0 || q.history(q.search.loadAt(b.Low)).soaked < q.goal.Soak {
		return false
	}
	return q.search.capped(b.Low) || b.High > 0 && within(b.Low, b.High, q.goal.Width)
}

// openBounds says which bound is missing, or that they are too wide apart; empty if neither, or if a void trial is the reason.
func (q question) openBounds(b Bounds) string {
	after := q.search.effort()
	switch {
	case b.Low == 0:
		if passed, _ := q.bracket(q.likely); passed != nil {
			return fmt.Sprintf("%.0f/s passed, but no rate was confirmed within %s", passed.rate, after)
		}
		return "no rate passed"
	case q.history(q.search.loadAt(b.Low)).soaked < q.goal.Soak:
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
