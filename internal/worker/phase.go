package worker

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/measure"
)

// phaseControl decides when the measured phase of a trial begins and ends. Its beginning is decided once: when the trial begins, if the
// warm-up has a fixed length; otherwise by the observer, when rate and latency no longer drift; at the latest when the trial has ended. It
// ends after Load.Duration, or with the last message if a number of messages was asked for.
type phaseControl struct {
	decided       sync.Once
	measuredUntil atomic.Int64 // messages intended from here on are not sent; math.MaxInt64: not decided, or a number of messages
	// announce tells consumers in another process the proposed start of the measured phase. It returns the start they agreed
	// on, at or after proposed. Nil: the consumers run in this process, or the phase was decided before they were told of the
	// trial (consuming.listen).
	announce    func(proposed int64) int64
	learnedLate atomic.Bool // Hooks.MeasureFrom returned a start that was too near
}

// measuredPhase returns the measured phase as far as it is decided.
func (t *trial) measuredPhase() phaseTimes {
	return phaseTimes{From: t.measure.MeasuredSince(), Until: t.measuredUntil.Load()}
}

// beginMeasuring decides when the measured phase begins, and when it ends if time ends it. Only the first call has an effect.
func (t *trial) beginMeasuring(from int64) {
	t.decided.Do(func() {
		if t.announce != nil {
			from = t.announce(from)
		}
		t.measure.MeasureFrom(from)
		t.measuredUntil.Store(t.phaseEnd(from))
		if t.load.Measuring != nil {
			t.load.Measuring(from)
		}
	})
}

// phaseEnd returns when a measured phase that begins at from ends; math.MaxInt64 if a number of messages ends it, or if from
// is not decided yet.
func (t *trial) phaseEnd(from int64) int64 {
	if t.load.Messages > 0 || from == measure.Undecided {
		return math.MaxInt64
	}
	return from + int64(t.load.Duration)
}

// endMeasuring ends the measured phase at a time, unless it ends before.
func (t *trial) endMeasuring(at int64) { t.measuredUntil.Store(min(at, t.measuredUntil.Load())) }

// fixMeasuredPhase makes sure that a trial that has ended has a measured phase, which is empty if its warm-up was not over. If err ended
// the trial, the phase ends with the sending, so that rates don't count a time in which nothing was sent.
func (t *trial) fixMeasuredPhase(err error) {
	t.decided.Do(func() { t.measure.MeasureFrom(t.sendingEndedAt) })
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
