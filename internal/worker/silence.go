package worker

import (
	"cmp"
	"slices"
)

// silence looks for the longest times, beginning in the measured phase, in which something was open and nothing got done.
type silence struct {
	since   int64 // when the last sample with progress, or with nothing open, was taken; ns on the clock's axis
	last    int64 // how much had been done by the last sample
	begun   bool  // a sample of the measured phase has come
	longest []Interval
}

// Silences returns the longest times, beginning between from and until, in which something was open and nothing got done, in
// no order. of says how much was done and open by a sample.
func Silences(samples []Sample, from, until int64, of func(Sample) (done, open int64)) []Interval {
	var s silence
	for _, one := range samples {
		done, open := of(one)
		s.look(from, until, one.At, done, open)
	}
	return s.end(from, until)
}

// Deliveries and Confirmations are what Silences may look at.
func Deliveries(s Sample) (done, open int64)    { return s.Count.Received, s.Undelivered }
func Confirmations(s Sample) (done, open int64) { return s.Count.Acked, s.Unconfirmed }

// maxSilences is how many are kept. Callers take off the times in which this process stood still itself, which changes
// which one is the longest.
const maxSilences = 100

// look takes a sample: how much has been done and how much is open. Samples come in the order of time.
func (s *silence) look(from, until, at, done, open int64) {
	switch {
	case at < from:
		s.last = done
		return
	case !s.begun:
		s.since, s.begun = from, true
	}
	if done != s.last {
		s.keep(Interval{s.since, at}, until)
	}
	if done != s.last || open == 0 {
		s.since = at
	}
	s.last = done
}

func (s *silence) keep(found Interval, until int64) {
	if found.From >= until || found.To <= found.From {
		return
	}
	s.longest = append(s.longest, found)
	if len(s.longest) < 2*maxSilences {
		return
	}
	slices.SortFunc(s.longest, func(a, b Interval) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	s.longest = s.longest[:maxSilences]
}

// end returns the longest ones. until may be earlier than what look was told: a number of messages ends the measured phase
// with the last of them, and nobody knows that before. A silence that nothing ended counts up to until only: afterwards
// nothing may be due.
func (s *silence) end(from, until int64) []Interval {
	if !s.begun {
		s.since = from
	}
	s.keep(Interval{s.since, until}, until)
	return slices.DeleteFunc(s.longest, func(one Interval) bool { return one.From >= until })
}
