package worker

import (
	"context"
	"time"
)

// listenOn waits for deliveries after the drain for as long as Load.Listen says, and sets Listened. Everything may have come by
// then, but a broker that got no acknowledgement for a message redelivers it after a time, for example 30 s.
func (w *Worker) listenOn(ctx context.Context, t *trial, out *Outcome) {
	if t.load.Listen <= 0 || out.Err != nil {
		return
	}
	if t.load.Drained != nil {
		t.load.Drained()
	}
	if !out.Drained && out.Overdue == 0 { // further deliveries are late in any case
		out.Overdue = w.missing(t)
	}
	listened := t.newTimer()
	for out.Err == nil && listened.Awake() < t.load.Listen {
		out.Err = w.wait(ctx, 10*time.Millisecond)
	}
	out.Listened = min(listened.Awake(), t.load.Listen)
}
