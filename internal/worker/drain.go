package worker

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/measure"
)

// After the last message was sent, a trial drains: it waits for confirmations and deliveries that are still under way. The drain
// ends when all have come, when its allowance (Load.Drain) is used up, or, if the load permits it, when nothing has come for a
// while.

const (
	lossyQuiet  = time.Second     // a drain in which messages may be lost ends when nothing has come for so long
	deliveryGap = 5 * time.Second // some brokers hand messages over only every few seconds
)

// drain drains the trial and sets Drained, Arriving and Overdue. If the sending went well but the allowance is used up, it goes on
// waiting until load.Settle is over as well. What ended it early, if anything did, is added to Err.
func (w *Worker) drain(ctx context.Context, t *trial, out *Outcome) {
	end, err := w.awaitArrivals(ctx, t, drainLimits{allowance: t.load.Drain, brisk: t.load.Brisk})
	out.Drained, out.Arriving = end == drainedAll, end == stoppedArriving
	usedUp := end == stoppedArriving || end == stoppedSilent
	if out.Err == nil && usedUp && t.load.Settle > t.load.Drain {
		out.Overdue = w.missing(t)
		var settled drainEnd
		settled, err = w.awaitArrivals(ctx, t, drainLimits{allowance: t.load.Settle - t.load.Drain, brisk: true})
		out.Arriving = arrivingAfter(settled, out.Arriving, t.load.Brisk)
	}
	out.Err = bothErrors(out.Err, err)
}

// arrivingAfter returns whether messages that are still missing may be late rather than lost, given how the waiting beyond the drain
// ended. arriving says that deliveries still came when the drain ended, and brisk is Load.Brisk.
func arrivingAfter(settled drainEnd, arriving, brisk bool) bool {
	switch settled {
	case stoppedArriving:
		return true
	case stoppedSilent:
		return false // messages that are missing by now are lost
	case stoppedQuiet:
		return arriving && brisk // otherwise they are lost as well; a brisk trial didn't wait long enough to tell
	default: // drainedAll or stoppedEarly
		return arriving
	}
}

// drainLimits say when a drain ends although something is missing.
type drainLimits struct {
	allowance time.Duration
	brisk     bool // also when nothing has come for trial.quietTime
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

// awaitArrivals blocks until everything sent has been confirmed and received, or one of the limits is reached. If messages may be lost,
// the drain is brisk in any case. It returns an error only with stoppedEarly.
func (w *Worker) awaitArrivals(ctx context.Context, t *trial, limits drainLimits) (drainEnd, error) {
	waited, unchanged := t.newTimer(), t.newChangeTimer()
	brisk := limits.brisk || t.load.Lossy
	for {
		c, othersSend := t.count()
		silent := unchanged.update(c.Received + c.Acked) // for how long nothing has come
		switch {
		case othersSend: // the drain has not begun
			waited.Reset()
			unchanged.timer.Reset()
		case w.allCame(t, c):
			return drainedAll, nil
		case waited.Awake() > limits.allowance:
			if arrivedLately(silent, limits.allowance) {
				return stoppedArriving, nil
			}
			return stoppedSilent, nil
		case brisk && resolved(c) && silent > t.quietTime():
			return stoppedQuiet, nil
		}
		if err := w.wait(ctx, 2*time.Millisecond); err != nil {
			return stoppedEarly, err
		}
	}
}

// allCame reports whether all messages of a trial with these counts are resolved and delivered.
func (w *Worker) allCame(t *trial, c measure.Count) bool {
	if !resolved(c) || t.undelivered(c) > 0 {
		return false
	}
	// Duplicates are not counted as received. But a message whose send failed may have arrived all the same. The counts look complete
	// then although another one is missing, and only the ledgers can tell.
	return c.Failed == 0 || w.missing(t) == 0
}

// missing counts the deliveries that have not come by the ledgers, which takes longer than reading the counters. Only if several
// workers share the streams, it goes by their counters.
func (w *Worker) missing(t *trial) int64 {
	if t.load.CountAll != nil {
		c, _ := t.count()
		return max(0, t.undelivered(c))
	}
	w.consumers.collect(t)
	return t.recording.books.Missing()
}

// undelivered counts the deliveries still to come if no message that failed comes. For example, of 100 messages 2 have failed.
// With 3 subscriptions and 290 deliveries so far, 4 are still to come.
func (t *trial) undelivered(c measure.Count) int64 {
	return (c.Sent-c.Failed)*int64(t.recording.books.Subscriptions()) - c.Received
}

// arrivedLately reports, when an allowance is used up, whether missing deliveries may be late rather than lost. silent is how
// long nothing has come.
func arrivedLately(silent, allowance time.Duration) bool {
	return silent < min(deliveryGap, allowance/2)
}

// quietTime is how long nothing must have come for a brisk drain to end: a second if messages may be lost, and else 5 s or half
// of the allowance, whichever is less.
func (t *trial) quietTime() time.Duration {
	if t.load.Lossy {
		return lossyQuiet
	}
	return min(deliveryGap, t.load.Drain/2)
}
