package worker

import (
	"context"
	"time"
)

// listenOn waits for deliveries after the drain for as long as Load.Listen says, and sets Listened. Everything may have come by then. But
// a broker that never got an acknowledgement delivers the message again when it has waited for it in vain, for 30 s for example.
func (w *Worker) listenOn(ctx context.Context, t *trial, out *Outcome) {
	if t.load.Listen <= 0 || out.Err != nil {
		return
	}
	if t.load.Drained != nil {
		t.load.Drained()
	}
	if !out.Drained && out.Overdue == 0 { // what comes from now on is late all the same
		out.Overdue = w.missing(t)
	}
	listened := t.newTimer()
	for out.Err == nil && listened.Awake() < t.load.Listen {
		out.Err = w.wait(ctx, 10*time.Millisecond)
	}
	out.Listened = min(listened.Awake(), t.load.Listen)
}
