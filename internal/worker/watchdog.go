package worker

import (
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// watchdog decides when to give up sending. For example, with a drain allowance of 5 s, a broker that has to take 1,000 messages
// and confirms none for 5 s has stalled. Time in which this process stood still doesn't count.
type watchdog struct {
	trial     *trial
	unchanged *changeTimer
	late      *clock.Timer // since a check first saw that the measured phase has ended; nil before
}

func newWatchdog(t *trial) *watchdog { return &watchdog{trial: t, unchanged: t.newChangeTimer()} }

// checkStalled returns an error if none of the trial's counts has changed within the drain allowance while a confirmation was
// outstanding. A trial that time ends can't stall. Call it every few milliseconds.
func (w *watchdog) checkStalled() error {
	t := w.trial
	if t.load.Messages == 0 { // time ends it
		return nil
	}
	c := t.recording.books.Count()
	unchanged := w.unchanged.update(c.Sent + c.Acked + c.Failed + c.Received)
	if resolved(c) || unchanged <= t.load.Drain {
		return nil
	}
	return fmt.Errorf("the broker stopped answering: of %d messages sent, %d were confirmed and %d failed, then nothing for %s",
		c.Sent, c.Acked, c.Failed, t.load.Drain)
}

// checkOverdue reports whether the measured phase ended longer ago than the drain allowance. Until then, messages that were due
// in the phase are still sent. Call it every few milliseconds.
func (w *watchdog) checkOverdue() bool {
	if w.late == nil {
		if clock.Now() > w.trial.recording.measuredUntil.Load() {
			w.late = w.trial.newTimer()
		}
		return false
	}
	return w.late.Awake() > w.trial.load.Drain
}

// resolved reports whether every message sent was confirmed or refused.
func resolved(c measure.Count) bool { return c.Sent == c.Acked+c.Failed }

// changeTimer measures how long a count hasn't changed.
type changeTimer struct {
	timer *clock.Timer // since the last change
	count int64
}

func (t *trial) newChangeTimer() *changeTimer { return &changeTimer{timer: t.newTimer()} }

// update takes the present count and returns for how long it has been the same.
func (c *changeTimer) update(count int64) time.Duration {
	if count != c.count {
		c.count = count
		c.timer.Reset()
	}
	return c.timer.Awake()
}
