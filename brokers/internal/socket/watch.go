package socket

import (
	"context"
	"sync/atomic"
	"time"
)

// patience is how long a call may go on after its context has ended; a healthy one is back within it.
const patience = time.Second

// Watch cuts a connection under a call that is still blocked when its context has long ended: publish calls of most
// clients know no context, or don't heed it in a blocked write. It belongs to the goroutine that makes the calls.
type Watch struct {
	cut   func()
	ctx   context.Context //nolint:containedctx // to distinguish a new one from the armed one
	stop  func() bool
	calls atomic.Uint64 // odd: a call is going on
	first atomic.Uint64 // of the calls under ctx
}

// NewWatch watches over calls; cut must end the one that is going on, and is called from another goroutine.
func NewWatch(cut func()) *Watch { return &Watch{cut: cut, stop: func() bool { return true }} }

// Enter begins a call under ctx; Leave ends it. Callers tend to use one context for all calls, so only a new one costs.
func (w *Watch) Enter(ctx context.Context) {
	if ctx != w.ctx {
		w.stop()
		first := w.calls.Load() + 1
		w.first.Store(first)
		w.ctx, w.stop = ctx, context.AfterFunc(ctx, func() { w.expired(first) })
	}
	w.calls.Add(1)
}

// Leave ends the call that Enter began.
func (w *Watch) Leave() { w.calls.Add(1) }

// Stop ends watching.
func (w *Watch) Stop() { w.stop() }

// expired cuts a call that is still going on under the context whose first call was first; calls under a later context are
// left alone.
func (w *Watch) expired(first uint64) {
	time.AfterFunc(patience, func() {
		call := w.calls.Load()
		if call%2 == 0 || w.first.Load() != first {
			return
		}
		time.AfterFunc(patience, func() {
			if w.calls.Load() == call {
				w.cut()
			}
		})
	})
}
