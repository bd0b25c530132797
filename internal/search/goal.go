package search

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Goal is one question to a broker: up to which rate does it keep these bounds? For example: up to
// which rate is the 99th percentile of the latency at most 10 ms? Ratios, durations and the width are
// MLRsearch's (draft-ietf-bmwg-mlrsearch).
type Goal struct {
	Latency       time.Duration // bound on the latency at Quantile; 0: none
	Quantile      float64       // 0.99: the 99th percentile
	LossRatio     float64       // share of messages that may be lost or fail
	ExceedRatio   float64       // share of the trial time at a rate that may fail; at least 0, below 1
	FinalDuration time.Duration // only trials of this length, or longer, make a rate a lower bound; above 0
	DurationSum   time.Duration // the trial time that decides a rate; less is enough if the rest can't change the answer
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

// Tally sums up how long the trials at one rate lasted, by their verdict for one goal. Time is good if
// the trial passed and bad if it failed; void trials are not counted. A trial is long if it lasted at
// least the goal's FinalDuration, and short otherwise. For example, after a trial of 1 s that passed
// and two of 5 s that failed, GoodShort is 1 s and BadLong is 10 s.
type Tally struct {
	GoodLong, BadLong, GoodShort, BadShort time.Duration
	Broken                                 bool // a promise was broken: an upper bound whatever other trials show
}

// Class decides by MLRsearch's load classification. The part of DurationSum that was not measured yet
// may still turn out good or bad. A rate is a lower bound if bad time stays within its share even if
// all of that part is bad, and an upper bound if bad time exceeds its share even if all of it is good.
//
// For example, with an ExceedRatio of 0.34, a FinalDuration of 5 s and a DurationSum of 15.15 s, 34 % of
// 15.15 s may be bad: 5.15 s.
//
//	good    bad   at worst bad
//	 5 s    5 s   10.15 s        undecided: bad time may yet be within 5.15 s, or not
//	10 s    5 s    5.15 s        lower bound
//	 5 s   10 s   10.15 s        upper bound
//
// Good short trials only make up for bad short ones. Beyond MLRsearch, bad time must be longer than one long trial
// to make an upper bound: one hiccup decides nothing.
func (g Goal) Class(t Tally) Class {
	if t.Broken {
		return Upper
	}
	bad := t.BadLong + max(0, t.BadShort-g.madeUpFor(t.GoodShort))
	whole := max(t.GoodLong+bad, g.DurationSum)
	badAtWorst := whole - t.GoodLong
	mayBeBad := g.mayBeBad(whole)
	switch {
	case badAtWorst <= mayBeBad:
		return Lower
	case bad > mayBeBad && bad > g.FinalDuration:
		return Upper
	}
	return Undecided
}

// mayBeBad returns how much of the whole time at a rate may be bad.
func (g Goal) mayBeBad(whole time.Duration) time.Duration {
	return time.Duration(math.Ceil(g.ExceedRatio * float64(whole)))
}

// madeUpFor returns how much bad time some good time makes up for: so much that bad time is ExceedRatio of both
// together. From bad/(good+bad) = r follows bad = good·r/(1−r). For example, at r = 0.2 a good 4 s make up for 1 s.
func (g Goal) madeUpFor(good time.Duration) time.Duration {
	return time.Duration(float64(good) * g.ExceedRatio / (1 - g.ExceedRatio))
}

// confirmations returns how many good long trials make an untried rate a lower bound: two, in the example of Class. It
// is found at the latest when they fill DurationSum, as FinalDuration is above 0.
func (g Goal) confirmations() int {
	n := 1
	for g.Class(Tally{GoodLong: time.Duration(n) * g.FinalDuration}) != Lower {
		n++
	}
	return n
}

// mostlyPassed reports whether there is more good time than bad, and no promise was broken.
func (t Tally) mostlyPassed() bool {
	return !t.Broken && t.GoodLong+t.GoodShort > t.BadLong+t.BadShort
}

// add counts a trial. length is its planned length, even if the trial was ended early because it could only fail.
func (t *Tally) add(g Goal, length time.Duration, judgement Judgement) {
	good, bad := &t.GoodShort, &t.BadShort
	if length >= g.FinalDuration {
		good, bad = &t.GoodLong, &t.BadLong
	}
	switch judgement.Verdict {
	case Pass:
		*good += length
	case Fail:
		*bad += length
	case Void:
	}
	t.Broken = t.Broken || judgement.Broken
}

// served is what came through in one long trial (Answer.Served).
type served struct {
	rate   float64 // messages per second
	length time.Duration
}

// conditional returns MLRsearch's conditional throughput of a lower bound: the least rate that came through in its long trials,
// once the worst share ExceedRatio of the time is left out. Time of DurationSum that the decision did not need counts as time in
// which nothing came through. It returns 0 if the trials are too few to fill the other share.
//
// For example, with an ExceedRatio of 0.5 and a DurationSum of 120 s, the worst 60 s are left out. Of trials of 30 s
// that brought 900, 1,000 and 990/s through, the best two fill the other 60 s: the conditional throughput is 990/s.
func (g Goal) conditional(trials []served) float64 {
	var measured time.Duration
	for _, t := range trials {
		measured += t.length
	}
	whole := max(g.DurationSum, measured)
	toFill := whole - g.mayBeBad(whole) // with the best trials
	bestFirst := slices.SortedFunc(slices.Values(trials), func(a, b served) int { return cmp.Compare(b.rate, a.rate) })
	for _, t := range bestFirst {
		toFill -= t.length
		if toFill <= 0 {
			return t.rate
		}
	}
	return 0
}
