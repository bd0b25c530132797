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
	lossyQuiet  = time.Second     // the least silence after which messages that may be lost count as lost
	deliveryGap = 5 * time.Second // of others: some brokers hand messages over only every few seconds
)

// drain drains the trial and sets Drained, Arriving and Overdue. If the sending went well but the allowance is used up, it waits
// on until load.Settle is over as well, or nothing has come for trial.patience. If anything ended it early, that is added to Err.
func (w *Worker) drain(ctx context.Context, t *trial, out *Outcome) {
	end, err := w.awaitArrivals(ctx, t, drainLimits{allowance: t.load.Drain, brisk: t.load.Brisk})
	out.Drained, out.Arriving = end == drainedAll, end == stoppedArriving
	usedUp := end == stoppedArriving || end == stoppedSilent
	if out.Err == nil && usedUp && t.load.Settle > t.load.Drain {
		out.Overdue = w.missing(t)
		var settled drainEnd
		settled, err = w.awaitArrivals(ctx, t, drainLimits{allowance: t.load.Settle - t.load.Drain, brisk: true})
		switch settled {
		case stoppedArriving:
			out.Arriving = true
		case stoppedSilent, stoppedQuiet: // messages still missing are lost
			out.Arriving = false
		case drainedAll, stoppedEarly: // unchanged by the wait after the drain
		}
	}
	out.Err = bothErrors(out.Err, err)
}

// drainLimits say when a drain ends although something is missing.
type drainLimits struct {
	allowance time.Duration
	brisk     bool // also when nothing has come for trial.patience
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
	patience := time.Duration(0) // of the present silence; 0: not looked up yet
	for {
		c, othersSend := t.count()
		silent := unchanged.update(c.Received + c.Acked) // for how long nothing has come
		if silent < t.load.leastPatience() {
			patience = 0
		} else if patience == 0 {
			patience = min(t.patience(c), limits.allowance)
		}
		switch {
		case othersSend: // the drain has not begun
			waited.Reset()
			unchanged.timer.Reset()
		case w.allCame(t, c):
			return drainedAll, nil
		case waited.Awake() > limits.allowance:
			if silent < min(max(patience, t.load.leastPatience()), limits.allowance/2) {
				return stoppedArriving, nil
			}
			return stoppedSilent, nil
		case brisk && resolved(c) && patience > 0 && silent > patience:
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
	// Duplicates are not counted as received. But a message whose send failed may have arrived all the same: then the counts look
	// complete although another message is missing, and only the ledgers show it.
	return c.Failed == 0 || w.missing(t) == 0
}

// missing counts the missing deliveries by the ledgers, which takes longer than reading the counters. If several workers share
// the streams, it uses their counters.
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

// leastPatience is the least that patience can be.
func (l Load) leastPatience() time.Duration {
	if l.Lossy {
		return lossyQuiet
	}
	return deliveryGap
}

// patience returns for how long nothing must have come for missing deliveries to count as lost, given the longest latency of the trial so
// far and the mean gap between two messages: four times the former, or three times the latter, but at least leastPatience. For example, a
// broker that stood still for 3 s before is waited for for 12 s, and a load of one message every 2 s for 6 s.
func (l Load) patience(longest, gap time.Duration) time.Duration {
	return max(l.leastPatience(), 4*longest, 3*gap)
}

// patience is the load's patience by what the trial has seen so far.
func (t *trial) patience(c measure.Count) time.Duration {
	longest := max(t.recording.books.EndToEnd().Max(), t.recording.books.Service().Max())
	gap := (t.sendingEndedAt - t.startedAt) / max(1, c.Sent)
	return t.load.patience(time.Duration(longest), time.Duration(gap))
}

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
