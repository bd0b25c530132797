package worker

import (
	"cmp"
	"slices"
)

// Silences returns the times in which messages were outstanding and none of them was finished, in no order. With Deliveries as
// progress, finished means delivered, and with Confirmations, confirmed. A silence lasts from one sample that counts progress to
// the next one. It counts if it begins in the measured phase [from, until), and of more than a hundred, the longest are returned.
//
// For example, samples at 20, 40, 60 and 80 ms count 5, 7, 7 and 9 deliveries, and further messages are outstanding all the time.
// There are silences from 20 to 40 ms and from 40 to 80 ms. If nothing was outstanding at 60 ms, the second one begins at 60 ms.
func Silences(samples []Sample, from, until int64, progress func(Sample) Progress) []Interval {
	phase := phaseTimes{From: from, Until: until}
	var r silenceRecorder
	for _, s := range samples {
		r.add(phase, s.At, progress(s))
	}
	return r.silences(phase)
}

// Progress says how many deliveries or confirmations have come by the time of a sample, and how many are still to come.
type Progress struct{ Finished, Outstanding int64 }

// Deliveries returns the progress of deliveries.
func Deliveries(s Sample) Progress {
	return Progress{Finished: s.Count.Received, Outstanding: s.Undelivered}
}

// Confirmations returns the progress of confirmations.
func Confirmations(s Sample) Progress {
	return Progress{Finished: s.Count.Acked, Outstanding: s.Unconfirmed}
}

// silenceRecorder finds Silences while the samples of a trial come in.
type silenceRecorder struct {
	finished int64 // by the last sample
	inPhase  bool  // a sample of the measured phase has come
	since    int64 // when the silence under way began, ns on the clock's axis; only if inPhase
	longest  []Interval
}

// maxSilences is the least number of silences that are kept. Callers subtract the times in which this process itself stood still,
// which may make another silence the longest.
const maxSilences = 100

// add takes the next sample, of a time. The end of the phase need not be known yet.
func (r *silenceRecorder) add(phase phaseTimes, at int64, p Progress) {
	progressed := p.Finished != r.finished
	r.finished = p.Finished
	if at < phase.From {
		return
	}
	if !r.inPhase {
		r.since, r.inPhase = phase.From, true
	}
	if progressed {
		r.keep(Interval{From: r.since, To: at}, phase)
	}
	if progressed || p.Outstanding == 0 {
		r.since = at
	}
}

func (r *silenceRecorder) keep(s Interval, phase phaseTimes) {
	if s.From >= phase.Until || s.length() <= 0 {
		return
	}
	r.longest = append(r.longest, s)
	if len(r.longest) == 2*maxSilences { // sorting after each silence would take too long
		slices.SortFunc(r.longest, func(a, b Interval) int { return cmp.Compare(b.length(), a.length()) })
		r.longest = r.longest[:maxSilences]
	}
}

// silences ends the recording and returns the silences. The phase is known by now. It may have ended earlier than add assumed, if it ends
// with the last of a number of messages. The silence under way counts up to the end of the phase: nothing may be due later.
func (r *silenceRecorder) silences(phase phaseTimes) []Interval {
	if !r.inPhase {
		r.since = phase.From
	}
	r.keep(Interval{From: r.since, To: phase.Until}, phase)
	return slices.DeleteFunc(r.longest, func(s Interval) bool { return s.From >= phase.Until })
}
