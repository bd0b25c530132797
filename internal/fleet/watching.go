package fleet

import (
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/worker"
)

// trialFeed passes what one agent's beats say of a trial to the view, on this process's clock. Each event is passed once.
type trialFeed struct {
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

func (w *trialFeed) take(u up) {
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

func (r *remote) setFeed(w *trialFeed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.feed = w; w != nil {
		w.n = r.n + 1
	}
}

// halt ends the measured phase of the trial under way.
func (r *remote) halt() {
	r.mu.Lock()
	w := r.feed
	r.mu.Unlock()
	if w != nil {
		_ = r.say(down{Halt: w.n}) // lost: the load is sent to its end
	}
}

// lastCue returns the last cue of the trial under way, or nil.
func (r *remote) lastCue() *cue {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.feed; w != nil && w.cue != (cue{}) {
		c := w.cue
		return &c
	}
	return nil
}

// setCue changes the cue of the trial under way and sends it. If the message is lost, the next beat repeats it.
func (r *remote) setCue(set func(*cue)) {
	r.mu.Lock()
	w := r.feed
	if w != nil {
		w.cue.N = w.n
		set(&w.cue)
	}
	r.mu.Unlock()
	if w != nil {
		_ = r.say(down{Cue: r.lastCue()}) // lost: it is said again
	}
}
