package worker

import (
	"cmp"
	"math"
	"slices"
)

// silence looks for the longest times, beginning in the measured phase, in which something was open and nothing got done.
type silence struct {
	since, last int64
	begun       bool
	longest     []Stop
}

// Silences are the longest times, beginning between from and until, in which something was open and nothing got done, by samples
// that say both.
func Silences(samples []Sample, from, until int64, of func(Sample) (done, open int64)) []Stop {
	var s silence
	for _, one := range samples {
		done, open := of(one)
		s.look(from, until, one.At, done, open)
	}
	return s.end(from, until)
}

// maxSilences is how many are kept: what the process stood still itself is taken off later, which changes their order.
const maxSilences = 100

// look takes a sample: how much has been done and how much is open.
func (s *silence) look(from, until, at, done, open int64) {
	switch {
	case at < from:
		s.last = done
		return
	case !s.begun:
		s.since, s.begun = from, true
	}
	if done != s.last {
		s.keep(Stop{s.since, at}, until)
	}
	if done != s.last || open == 0 {
		s.since = at
	}
	s.last = done
}

func (s *silence) keep(found Stop, until int64) {
	if found.From >= until || found.To <= found.From {
		return
	}
	s.longest = append(s.longest, found)
	if len(s.longest) < 2*maxSilences {
		return
	}
	slices.SortFunc(s.longest, func(a, b Stop) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	s.longest = s.longest[:maxSilences]
}

// end returns the longest ones. One that nothing ended counts as far as the measured phase: afterwards nothing may be due.
func (s *silence) end(from, until int64) []Stop {
	if !s.begun {
		s.since = from
	}
	if until < math.MaxInt64 {
		s.keep(Stop{s.since, until}, until)
	}
	return s.longest
}
