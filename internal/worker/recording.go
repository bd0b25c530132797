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
