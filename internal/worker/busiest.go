package worker

import (
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/busiest"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

const (
	// leastWatched is the shortest time of watching for the busiest goroutine: it gives 50 samples of a goroutine that is always busy.
	leastWatched = 500 * time.Millisecond
	// stopLead is how long before the end of the phase watching ends. The runtime needs that long to stop profiling, and no trial
	// waits for it.
	stopLead = 150 * time.Millisecond
	// phasePoll is the interval for checking whether the phase has begun or ended.
	phasePoll = 10 * time.Millisecond
)

// effort finds the goroutine of this process that used most of a core in the measured phase of a recording. While it watches, the
// garbage collector runs less often if Plan.Heap says so.
type effort struct {
	phase  func() phaseTimes
	over   chan struct{}  // closed by end
	memory sync.WaitGroup // until the garbage collector has its old settings
	result chan busiest.Goroutine
}

func newEffort(heap int, phase func() phaseTimes) *effort {
	e := &effort{phase: phase, over: make(chan struct{}), result: make(chan busiest.Goroutine, 1)}
	go e.watch()
	if heap > 0 {
		e.memory.Go(func() { // in a goroutine: a running collection would delay the trial
			c := collectLess(int64(heap))
			<-e.over
			c.end()
		})
	}
	return e
}

// watch watches the phase, from its beginning to nearly its end. It watches a phase that ends after a number of messages only
// once the phase has lasted for leastWatched: most end earlier.
func (e *effort) watch() {
	var found busiest.Goroutine
	defer func() { e.result <- found }()
	if !e.await(func() int64 { return e.phase().From }) {
		return
	}
	phase := e.phase()
	if phase.Until == measure.Undecided && !e.await(func() int64 { return phase.From + int64(leastWatched) }) {
		return
	}
	if phase.Until-phase.From < int64(leastWatched+stopLead) {
		return
	}
	w := busiest.Start()
	if w == nil {
		return
	}
	began := clock.Now()
	e.await(func() int64 { return e.phase().Until - int64(stopLead) })
	w.Stop()
	if clock.Now()-began >= int64(leastWatched) {
		found = w.Busiest()
	}
}

// await waits until a time that may still change. It returns false if the recording ended before.
func (e *effort) await(at func() int64) bool {
	for now := clock.Now(); now < at(); now = clock.Now() {
		if !clock.Reach(now+int64(phasePoll), e.over) {
			return false
		}
	}
	return true
}

// end ends watching and returns the busiest goroutine, without a name if the phase was too short.
func (e *effort) end() busiest.Goroutine {
	close(e.over)
	e.memory.Wait()
	return <-e.result
}
