package worker

import (
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// recording is what one process records of a trial: its messages, the measured phase, its pauses and its effort. Each process
// that takes part has one. If a worker's consumers run in a process of their own, that process has a second one, with the
// deliveries.
type recording struct {
	books         *measure.Trial // of messages; they also hold the beginning of the measured phase
	measuredUntil atomic.Int64   // end of the measured phase, or measure.Undecided
	keyOf         measure.KeyOf  // nil unless order is promised for each key
	pauses        *pauseRecorder
	watch         *clock.Watch // reports to pauses
	effort        *effort
}

// newRecording begins to record. keys is nil unless order is promised for each key. The caller closes the watch.
func newRecording(shape measure.Shape, keys *keyChooser) *recording {
	r := &recording{}
	if keys != nil {
		shape.Keys, r.keyOf = keys.spec.N, keys.of
	}
	r.books = measure.NewTrial(shape)
	r.measuredUntil.Store(measure.Undecided)
	r.pauses = &pauseRecorder{phase: r.measuredPhase}
	r.watch = clock.NewWatch(r.pauses.wakeUp)
	return r
}

// watchEffort begins to look for the busiest goroutine, with Plan.Heap. The caller ends the effort.
func (r *recording) watchEffort(heap int) { r.effort = newEffort(heap, r.measuredPhase) }

// measuredPhase returns the measured phase as far as it is decided. Any goroutine may call it.
func (r *recording) measuredPhase() phaseTimes {
	return phaseTimes{From: r.books.MeasuredSince(), Until: r.measuredUntil.Load()}
}

// setMeasuredPhase decides the measured phase. It sets the end first, because a reader that finds the beginning takes the end for
// decided, too.
func (r *recording) setMeasuredPhase(p phaseTimes) {
	r.measuredUntil.Store(p.Until)
	r.books.MeasureFrom(p.From)
}

// phaseTimes is the measured phase [From, Until) of a trial, ns on the clock's axis. A bound that is not decided yet is
// measure.Undecided, which is later than any time.
//
// From is the end of the warm-up. If that has a fixed length, From is decided when the trial begins, otherwise by the observer,
// when rate and latency are steady. Until is Load.Duration later. If Load.Messages are asked for instead, the last one ends the
// phase. No message is sent that is intended at Until or later.
//
// For example, a trial begins at 100 s, with a warm-up of 5 s and a Duration of 10 s. Its phase is from 105 s until 115 s. If the
// trial is cancelled at 108 s, the phase is from 105 s until 108 s. If it is cancelled at 103 s, the phase is empty, from 103 s
// until 103 s.
type phaseTimes struct{ From, Until int64 }

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

// finalPhase decides the open bounds of the measured phase and returns it. Sending ended at lastSent at the latest. The last
// message that was sent by a schedule was intended at lastIntended: the phase lasts at least until then, because a message may be
// under way while endMeasuring ends the phase before it. The phase is empty if the trial ended in its warm-up. If err ended it,
// nothing after the end of the sending counts, so that rates don't include a time in which nothing was sent.
func (t *trial) finalPhase(lastSent, lastIntended int64, err error) phaseTimes {
	phase := t.recording.measuredPhase()
	phase.Until = max(phase.Until, lastIntended+1)
	if phase.From == measure.Undecided || err != nil {
		phase.From = min(phase.From, t.sendingEndedAt)
	}
	if err != nil {
		phase.Until = min(phase.Until, t.sendingEndedAt)
	}
	t.recording.setMeasuredPhase(phase)
	if phase.Until == measure.Undecided { // a number of messages was asked for
		phase.Until = max(phase.From, lastSent)
	}
	return phase
}

// checkPhase returns an ErrLate if the trial learned too late when its measured phase begins.
func (t *trial) checkPhase() error {
	if t.learnedLate.Load() {
		return wordedError{
			text: "it was told too late when the measured phase began: the messages of that phase can't be told from those of the warm-up", kind: ErrLate,
		}
	}
	return nil
}
