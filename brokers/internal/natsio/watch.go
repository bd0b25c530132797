package natsio

import (
	"context"
	"sync/atomic"
	"time"
)

// patience is how long a call may go on after its context has ended; a healthy one is back within it.
const patience = time.Second

// Watch cuts a connection under a call that is still blocked when its context has long ended: the client's own
// publish calls know no context. It belongs to the goroutine that makes the calls.
type Watch struct {
	conn  *Conn
	ctx   context.Context
	stop  func() bool
	calls atomic.Uint64 // odd: a call is going on
}

// NewWatch watches over calls on c.
func NewWatch(c *Conn) *Watch { return &Watch{conn: c, stop: func() bool { return true }} }

// Enter begins a call under ctx; Leave ends it. Callers tend to use one context for all calls, so only a new one costs.
func (w *Watch) Enter(ctx context.Context) {
	if ctx != w.ctx {
		w.stop()
		w.ctx, w.stop = ctx, context.AfterFunc(ctx, w.expired)
	}
	w.calls.Add(1)
}

// Leave ends the call that Enter began.
func (w *Watch) Leave() { w.calls.Add(1) }

// Stop ends watching.
func (w *Watch) Stop() { w.stop() }

func (w *Watch) expired() {
	time.AfterFunc(patience, func() {
		call := w.calls.Load()
		if call%2 == 0 {
			return
		}
		time.AfterFunc(patience, func() {
			if w.calls.Load() == call {
				w.conn.Cut()
			}
		})
	})
}
