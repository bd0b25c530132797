// Package search finds the highest rates a broker sustains: a stated rule for one trial, goals by which the trials at a
// rate are summed up, and a search over trials that answers all goals. It knows nothing of brokers; a trial is a
// function it calls.
package search

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Goal is one question to a broker: up to which rate does it hold this? (MLRsearch, draft-ietf-bmwg-mlrsearch.)
type Goal struct {
	Latency  time.Duration // bound on the latency at Quantile; 0: none
	Quantile float64
	Loss     float64       // share of messages that may be lost or fail
	Exceed   float64       // share of the time at a rate in which backlog and latency may be worse; below 1
	Final    time.Duration // only trials of this length make a rate a lower bound
	Sum      time.Duration // the time at a rate that decides; less is enough where the rest can't change the answer
	Width    float64       // upper and lower bound within this share of each other
	Soak     time.Duration // one trial of this length at the lower bound has to pass as well; 0: none
}

// Class is what the trials at a rate make of it for a goal.
type Class string

// The classes.
const (
	Lower     Class = "lower" // the rate is sustained
	Upper     Class = "upper" // it is not
	Undecided Class = "undecided"
)

// Tally sums up the trials at one rate by their length and what they showed for one goal. Trials of a goal's final
// length are long, all others short.
type Tally struct {
	GoodLong, BadLong, GoodShort, BadShort time.Duration
	Broken                                 bool // a promise was broken: an upper bound whatever other trials show
}

// Class decides by MLRsearch's load classification. Good short trials only make up for bad short ones. The rest of Sum,
// as long as it wasn't measured, might still turn out either way: a rate is a lower bound when the share of bad time
// stays within Exceed even then, and an upper bound when it would exceed it all the same. Here, besides, bad time has to be
// longer than one full-length trial: one hiccup decides nothing.
func (g Goal) Class(t Tally) Class {
	if t.Broken {
		return Upper
	}
	made := time.Duration(float64(t.GoodShort) * g.Exceed / (1 - g.Exceed))
	bad := t.BadLong + max(0, t.BadShort-made)
	whole := max(t.GoodLong+bad, g.Sum)
	allowed := g.allowed(whole)
	switch {
	case whole-t.GoodLong <= allowed:
		return Lower
	case bad > max(allowed, g.Final):
		return Upper
	}
	return Undecided
}

// allowed is how much of the whole time may be bad.
func (g Goal) allowed(whole time.Duration) time.Duration {
	return time.Duration(math.Ceil(g.Exceed * float64(whole)))
}

// leans is the likely class of an undecided rate.
func (t Tally) leans() Class {
	if t.Broken || t.BadLong+t.BadShort >= t.GoodLong+t.GoodShort {
		return Upper
	}
	return Lower
}

func (t Tally) empty() bool { return t == Tally{} }

// add counts a trial by its planned length, also one that was ended early because it could only fail.
func (t *Tally) add(g Goal, length time.Duration, l Judgement) {
	long := length >= g.Final
	switch {
	case l.Verdict == Void:
	case l.Verdict == Pass && long:
		t.GoodLong += length
	case l.Verdict == Pass:
		t.GoodShort += length
	case long:
		t.BadLong += length
	default:
		t.BadShort += length
	}
	t.Broken = t.Broken || l.Broken
}

// served is what came through per second in a trial of some length.
type served struct {
	rate   float64
	length time.Duration
}

// conditional is MLRsearch's conditional throughput: what at least came through in all but the worst share Exceed of
// the time at a lower bound. Time that wasn't needed for the decision counts as if nothing had come through.
func (g Goal) conditional(trials []served) float64 {
	trials = slices.SortedFunc(slices.Values(trials), func(a, b served) int { return cmp.Compare(b.rate, a.rate) })
	var all time.Duration
	for _, t := range trials {
		all += t.length
	}
	all = max(g.Sum, all)
	left := all - g.allowed(all)
	for _, t := range trials {
		if left -= t.length; left <= 0 {
			return t.rate
		}
	}
	return 0
}
