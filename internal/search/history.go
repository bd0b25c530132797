package search

import (
	"cmp"
	"slices"
	"time"
)

// A search remembers its trials by rate and goal. All trials at a rate add up: long and short ones, those that passed and those that
// failed. Void trials are only counted.

// load is a rate that was tried.
type load struct {
	rate    float64
	goals   []history // in the order of Plan.Goals
	through float64   // Answer.Through of the last trial; 0: not known
}

// history is what the trials at a rate have shown for one goal.
type history struct {
	Tally
	long       []served      // trials of full length that were not void
	soaked     time.Duration // length of the longest trial that passed
	soakFailed bool
	slow       bool   // only its latency made the last trial fail that did
	voids      int    // number of void trials
	voidReason string // of the last of them
}

// loadAt returns the load of a rate; a new one if the rate was not tried yet.
func (s *searcher) loadAt(rate float64) *load {
	i, found := slices.BinarySearchFunc(s.loads, rate, func(l *load, r float64) int { return cmp.Compare(l.rate, r) })
	if !found {
		s.loads = slices.Insert(s.loads, i, &load{rate: rate, goals: make([]history, len(s.Goals))})
	}
	return s.loads[i]
}

// book adds a trial to what is known of its rate.
func (s *searcher) book(r Request, a Answer) {
	l := s.loadAt(r.Rate)
	l.through = a.Through
	for i, g := range s.Goals {
		l.goals[i].book(g, r, a.Served, a.Judgements[i])
	}
	broken, passed, counts := false, false, false
	for _, j := range a.Judgements {
		broken = broken || j.Broken
		passed = passed || j.Verdict == Pass
		counts = counts || j.Verdict != Void
	}
	if broken { // lost messages don't come through either, but that says nothing about a capacity
		l.through = 0
	}
	if passed {
		s.overhead = max(0, a.Took-r.For)
	}
	if counts {
		s.voidsInARow = 0
		return
	}
	s.voids++
	s.voidsInARow++
}

// book adds a trial that brought so many messages per second through.
func (h *history) book(g Goal, r Request, through float64, judgement Judgement) {
	h.add(g, r.For, judgement)
	if judgement.Verdict == Void {
		h.voids++
		h.voidReason = judgement.Reason
		return
	}
	if r.For >= g.Final {
		h.long = append(h.long, served{rate: through, length: r.For})
	}
	if judgement.Verdict == Pass {
		h.soaked = max(h.soaked, r.For)
		return
	}
	h.slow = judgement.Slow
	h.soakFailed = h.soakFailed || r.Kind == Soak
}
