package fleet

import (
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/worker"
)

// watching is what becomes of the beats of a trial.
type watching struct {
	n         int // the order
	others    bool
	offset    int64
	measuring func(at int64)
	sent      func()
	filled    func()
	samples   func([]worker.Sample)
	begun     bool
	ended     atomic.Bool // all was sent
	full      bool
	cue       cue // the last one, which is said again with every beat: the agent may have missed it
}

func (w *watching) take(u up) {
	if u.Measuring != 0 && !w.begun {
		w.begun = true
		w.measuring(u.Measuring - w.offset)
	}
	for i := range u.Samples {
		u.Samples[i].At -= w.offset
	}
	if len(u.Samples) > 0 {
		w.samples(u.Samples)
	}
	if u.Filled && !w.full {
		w.full = true
		w.filled()
	}
	if u.Sent && !w.ended.Swap(true) {
		w.sent()
	}
}

func (r *remote) watch(w *watching) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watching = w; w != nil {
		w.n = r.n + 1
	}
}

// halt ends the measured phase of the trial under way.
func (r *remote) halt() {
	r.mu.Lock()
	w := r.watching
	r.mu.Unlock()
	if w != nil {
		_ = r.say(down{Halt: w.n}) // lost: the load is sent to its end
	}
}

// lastCue is the last cue of the trial under way; nil: there was none.
func (r *remote) lastCue() *cue {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.watching; w != nil && w.cue != (cue{}) {
		c := w.cue
		return &c
	}
	return nil
}

// give gives a cue to the trial under way.
func (r *remote) give(set func(*cue)) {
	r.mu.Lock()
	w := r.watching
	if w != nil {
		w.cue.N = w.n
		set(&w.cue)
	}
	r.mu.Unlock()
	if w != nil {
		_ = r.say(down{Cue: r.lastCue()}) // lost: it is said again
	}
}
