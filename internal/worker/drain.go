package worker

import (
	"context"
	"errors"
	"time"
)

const (
	quiet = time.Second     // nothing may arrive for so long before a lossy drain ends
	gust  = 5 * time.Second // some brokers let go of what they hold only every few seconds
)

// patience is how long a drain waits for another delivery when only deliveries are missing: at most once they may be
// lost, and a search has more trials to run.
func (t *trial) patience() time.Duration {
	if t.load.Lossy {
		return quiet
	}
	return min(gust, t.load.Drain/2)
}

// stillArriving tells, when an allowance is used up, whether what is missing may be late: something came lately.
func stillArriving(silent, allowance time.Duration) bool { return silent < min(gust, allowance/2) }

// arrivals is what came of the messages that were under way when the last one had been sent.
type arrivals struct {
	complete bool  // everything within the drain allowance
	late     bool  // what is missing may still come: something came lately
	overdue  int64 // deliveries missing at the end of the drain allowance that were waited for beyond it
}

// awaitArrivals drains the trial, and where load.Settle allows it waits for what the drain left. It returns the error it was
// given, joined with what ended the waiting early.
func (w *Worker) awaitArrivals(ctx context.Context, t *trial, err error) (arrivals, error) {
	load := t.load
	end, early := w.drain(ctx, t, load.Drain, load.Brisk)
	came := arrivals{complete: end == drainedAll, late: end == stoppedArriving}
	if early != nil {
		return came, errors.Join(err, early)
	}
	if end == drainedAll || end == stoppedQuiet || load.Settle <= load.Drain || err != nil {
		return came, err
	}
	came.overdue = w.missing(t)
	end, early = w.drain(ctx, t, load.Settle-load.Drain, true)
	switch {
	case end == stoppedArriving:
		came.late = true
	case end == stoppedSilent, end == stoppedQuiet && !load.Brisk:
		came.late = false // what is missing now is lost
	}
	return came, early
}

// drainEnd is why a drain ended.
type drainEnd int

const (
	drainedAll      drainEnd = iota // everything sent was confirmed and received
	stoppedArriving                 // the allowance was used up while deliveries still came
	stoppedSilent                   // the allowance was used up, and nothing had come lately
	stoppedQuiet                    // nothing came for so long that waiting longer is pointless
	stoppedEarly                    // ctx ended, or a consumer failed
)

// drain blocks until everything sent has been confirmed and received, or the allowance is used up. Where hasty, and at most
// once, it also ends when nothing has come for a while.
func (w *Worker) drain(ctx context.Context, t *trial, allowance time.Duration, hasty bool) (drainEnd, error) {
	waited, still := t.newTimer(), t.newTimer()
	last, _ := t.count()
	for {
		now, sending := t.count()
		if sending {
			waited.Reset()
			still.Reset()
		}
		resolved := now.Sent == now.Acked+now.Failed
		if resolved && !sending && now.Received >= (now.Sent-now.Failed)*int64(t.measure.Subscriptions()) &&
			(now.Failed == 0 || w.missing(t) == 0) {
			return drainedAll, nil
		}
		if now.Received != last.Received || now.Acked != last.Acked {
			still.Reset()
		}
		last = now
		switch {
		case waited.Awake() > allowance && stillArriving(still.Awake(), allowance):
			return stoppedArriving, nil
		case waited.Awake() > allowance:
			return stoppedSilent, nil
		case (hasty || t.load.Lossy) && resolved && still.Awake() > t.patience():
			return stoppedQuiet, nil
		}
		select {
		case <-ctx.Done():
			return stoppedEarly, ctx.Err()
		case <-w.broken.is:
			return stoppedEarly, w.broken.err
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// missing counts the deliveries still to come; over several workers, as their counters tell it.
func (w *Worker) missing(t *trial) int64 {
	if t.load.Everywhere != nil {
		c, _ := t.count()
		return max(0, (c.Sent-c.Failed)*int64(t.measure.Subscriptions())-c.Received)
	}
	w.consuming.collect(t)
	return t.measure.Missing()
}
