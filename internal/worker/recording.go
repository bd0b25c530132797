package worker

import (
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// recording is what one process records of a trial. The worker has one; if the consumers have a
// process of their own, it has another one, with the deliveries.
type recording struct {
	measure       *measure.Trial // the books; knows when the measured phase begins
	measuredUntil atomic.Int64   // end of the measured phase, or measure.Undecided
	keyOf         measure.KeyOf  // nil unless order is promised for each key
	pauses        *pauseRecorder
	watch         *clock.Watch // reports to pauses
}

// newRecording begins to record. keys is nil unless order is promised for each key. The caller
// closes the watch.
func newRecording(shape measure.Shape, keys *keys) *recording {
	r := &recording{}
	if keys != nil {
		shape.Keys, r.keyOf = keys.N, keys.of
	}
	r.measure = measure.NewTrial(shape)
	r.measuredUntil.Store(measure.Undecided)
	r.pauses = &pauseRecorder{phase: r.measuredPhase}
	r.watch = clock.NewWatch(r.pauses.wakeUp)
	return r
}

// phaseTimes is the measured phase [From, Until), ns on the clock's axis. A bound that is not
// decided yet is measure.Undecided. So is Until as long as the last message is to end the phase.
type phaseTimes struct{ From, Until int64 }

// measuredPhase returns the measured phase as far as it is decided.
func (r *recording) measuredPhase() phaseTimes {
	return phaseTimes{From: r.measure.MeasuredSince(), Until: r.measuredUntil.Load()}
}

// setMeasuredPhase decides the measured phase.
func (r *recording) setMeasuredPhase(p phaseTimes) {
	r.measuredUntil.Store(p.Until)
	r.measure.MeasureFrom(p.From)
}
