package search

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Goal is one question to a broker: up to which rate does it keep these bounds? Ratios, durations and
// the width are MLRsearch's (draft-ietf-bmwg-mlrsearch).
type Goal struct {
	Latency       time.Duration // bound on the latency at Quantile; 0: none
	Quantile      float64
	LossRatio     float64       // share of messages that may be lost or fail
	ExceedRatio   float64       // share of the time at a rate in which trials may fail; at least 0, below 1
	FinalDuration time.Duration // only trials of this length, or longer, make a rate a lower bound; above 0
	DurationSum   time.Duration // the time at a rate that decides; less is enough if the rest can't change the answer
	Width         float64       // the goal is answered when upper and lower bound are within this share of each other
	Soak          time.Duration // one trial of this length at the lower bound has to pass as well; 0: none
}

// Class says whether a rate is sustained, by its trials and for one goal.
type Class string

// The classes.
const (
	Lower     Class = "lower" // a lower bound: the rate is sustained
	Upper     Class = "upper" // an upper bound: it is not
	Undecided Class = "undecided"
)

// Tally sums up the trials at one rate by their length and their verdict for one goal. Trials of at
// least the goal's final length are long, all others short. Trials that passed are good, those that
// failed are bad; void ones are not counted.
type Tally struct {
	GoodLong, BadLong, GoodShort, BadShort time.Duration
	Broken                                 bool // a promise was broken: an upper bound whatever other trials show
}

// Class decides by MLRsearch's load classification. Good short trials only make up for bad short ones.
// The part of DurationSum that was not measured yet may still turn out good or bad. A rate is a lower
// bound if the share of bad time stays within ExceedRatio even if all of that is bad, and an upper
// bound if it exceeds it even if all of that is good.
//
// Beyond MLRsearch, bad time must be longer than one full-length trial to make an upper bound: one
// hiccup decides nothing.
//
// For example, with an ExceedRatio of 0.34, a FinalDuration of 5 s and a DurationSum of 15.15 s, 34 % of
// 15.15 s may be bad: 5.15 s. After one good and one bad trial of 5 s, the rate is undecided. A second
// good one makes 10 s good: even if the other 5.15 s are bad, it is a lower bound. A second bad one
// makes 10 s bad: it is an upper bound.
func (g Goal) Class(t Tally) Class {
	if t.Broken {
		return Upper
	}
	madeUpFor := time.Duration(float64(t.GoodShort) * g.ExceedRatio / (1 - g.ExceedRatio))
	bad := t.BadLong + max(0, t.BadShort-madeUpFor)
	whole := max(t.GoodLong+bad, g.DurationSum)
	allowed := g.allowed(whole)
	switch {
	case whole-t.GoodLong <= allowed:
		return Lower
	case bad > max(allowed, g.FinalDuration):
		return Upper
	}
	return Undecided
}

// allowed returns how much of the whole time may be bad.
func (g Goal) allowed(whole time.Duration) time.Duration {
	return time.Duration(math.Ceil(g.ExceedRatio * float64(whole)))
}

// confirmations returns how many good full-length trials make an untried rate a lower bound.
func (g Goal) confirmations() int {
	n := 1
	for g.Class(Tally{GoodLong: time.Duration(n) * g.FinalDuration}) != Lower {
		n++
	}
	return n
}

// likely returns the class of an undecided rate by whichever kind of time there is more of.
func (t Tally) likely() Class {
	if t.Broken || t.BadLong+t.BadShort >= t.GoodLong+t.GoodShort {
		return Upper
	}
	return Lower
}

func (t Tally) empty() bool { return t == Tally{} }

// add counts a trial by its planned length, also one that was ended early because it could only fail.
func (t *Tally) add(g Goal, length time.Duration, judgement Judgement) {
	long := length >= g.FinalDuration
	switch {
	case judgement.Verdict == Void:
	case judgement.Verdict == Pass && long:
		t.GoodLong += length
	case judgement.Verdict == Pass:
		t.GoodShort += length
	case long:
		t.BadLong += length
	default:
		t.BadShort += length
	}
	t.Broken = t.Broken || judgement.Broken
}

// served is how much came through in one trial.
type served struct {
	rate   float64 // messages per second
	length time.Duration
}

// conditional returns MLRsearch's conditional throughput of a lower bound: the rate that came through
// at least, but for the worst share ExceedRatio of the time. Time of DurationSum that was not needed
// for the decision counts as if nothing had come through.
//
// For example, with an ExceedRatio of 0.5 and a DurationSum of 120 s, 60 s may be the worst. Of trials
// of 30 s that brought 900, 1,000 and 990/s through, the best two fill the other 60 s: the conditional
// throughput is 990/s.
func (g Goal) conditional(trials []served) float64 {
	trials = slices.SortedFunc(slices.Values(trials), func(a, b served) int { return cmp.Compare(b.rate, a.rate) })
	var all time.Duration
	for _, t := range trials {
		all += t.length
	}
	all = max(g.DurationSum, all)
	left := all - g.allowed(all)
	for _, t := range trials {
		if left -= t.length; left <= 0 {
			return t.rate
		}
	}
	return 0
}
