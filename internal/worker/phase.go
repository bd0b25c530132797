package worker

import (
	"github.com/brokermark/brokermark/internal/measure"
)

// The beginning of a trial's measured phase is decided once: when the trial begins, if the warm-up
// has a fixed length; otherwise by the observer, when rate and latency no longer drift; at the latest
// when the trial has ended. The phase ends after Load.Duration, or with the last message if a number
// of messages was asked for. No message is sent that is intended after its end.

// beginMeasuring decides when the measured phase begins, and when it ends if time ends it.
func (t *trial) beginMeasuring(from int64) {
	t.recording.setMeasuredPhase(t.phaseFrom(from))
	if t.load.Measuring != nil {
		t.load.Measuring(from)
	}
}

// phaseFrom returns the measured phase that begins at from.
func (t *trial) phaseFrom(from int64) phaseTimes {
	if t.load.Messages > 0 {
		return phaseTimes{From: from, Until: measure.Undecided}
	}
	return phaseTimes{From: from, Until: from + int64(t.load.Duration)}
}

// endMeasuring ends the measured phase at a time, unless it ends before.
func (t *trial) endMeasuring(at int64) {
	t.recording.measuredUntil.Store(min(at, t.recording.measuredUntil.Load()))
}

// fixMeasuredPhase makes sure that a trial that has ended has a measured phase, which is empty if its
// warm-up was not over. If err ended the trial, the phase ends with the sending, so that rates don't
// count a time in which nothing was sent.
func (t *trial) fixMeasuredPhase(err error) {
	if t.recording.books.MeasuredSince() == measure.Undecided {
		t.recording.books.MeasureFrom(t.sendingEndedAt)
	}
	if err != nil {
		t.endMeasuring(t.sendingEndedAt)
	}
}

// checkPhase returns an ErrLate if the trial learned too late when its measured phase begins.
func (t *trial) checkPhase() error {
	if t.learnedLate.Load() {
		return lateError("it was told too late when the measured phase began: the messages of that phase can't be told from those of the warm-up")
	}
	return nil
}
