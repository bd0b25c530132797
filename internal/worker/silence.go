package worker

import (
	"cmp"
	"slices"
)

// Silences returns the longest times in which messages were open and none of them got done, in no order. Only those that begin in the
// measured phase [from, until) count. progress reads from a sample how many messages were done and open: it is Deliveries or
// Confirmations.
//
// For example, samples at 0, 20, 40, 60 and 80 ms with 5, 7, 7, 7 and 9 deliveries, and messages open all the time, show a silence from
// 20 ms to 80 ms.
func Silences(samples []Sample, from, until int64, progress func(Sample) (done, open int64)) []Interval {
	phase := phaseTimes{From: from, Until: until}
	var s silence
	for _, sample := range samples {
		done, open := progress(sample)
		s.look(phase, sample.At, done, open)
	}
	return s.end(phase)
}

// Deliveries returns how many deliveries a sample counts, and how many are still to come.
func Deliveries(s Sample) (done, open int64) { return s.Count.Received, s.Undelivered }

// Confirmations returns how many messages a sample counts as confirmed, and how many confirmations are still to come.
func Confirmations(s Sample) (done, open int64) { return s.Count.Acked, s.Unconfirmed }

// silence finds Silences while samples come in.
type silence struct {
	begun   bool  // a sample of the measured phase has come
	since   int64 // time of the last sample with progress, or with nothing open; ns on the clock's axis
	done    int64 // messages done by the last sample
	longest []Interval
}

// maxSilences bounds how many are kept. More than one are, because callers take off the times in which this process itself stood still,
// which may make another one the longest.
const maxSilences = 100

// look takes the next sample: its time, and how many messages were done and open. The phase may be known only in part so far.
func (s *silence) look(phase phaseTimes, at, done, open int64) {
	if at < phase.From {
		s.done = done
		return
	}
	if !s.begun {
		s.since, s.begun = phase.From, true
	}
	if done != s.done {
		s.keep(Interval{From: s.since, To: at}, phase)
	}
	if done != s.done || open == 0 {
		s.since = at
	}
	s.done = done
}

func (s *silence) keep(found Interval, phase phaseTimes) {
	if found.From >= phase.Until || found.length() <= 0 {
		return
	}
	s.longest = append(s.longest, found)
	if len(s.longest) == 2*maxSilences { // sorting at every sample would take too long
		slices.SortFunc(s.longest, func(a, b Interval) int { return cmp.Compare(b.length(), a.length()) })
		s.longest = s.longest[:maxSilences]
	}
}

// end returns the silences. By now the end of the phase is known; it may be earlier than look was told, because a number of messages ends
// the phase with its last message. A silence that nothing ended counts up to the end of the phase only: nothing may be due after it.
func (s *silence) end(phase phaseTimes) []Interval {
	if !s.begun {
		s.since = phase.From
	}
	s.keep(Interval{From: s.since, To: phase.Until}, phase)
	return slices.DeleteFunc(s.longest, func(one Interval) bool { return one.From >= phase.Until })
}
