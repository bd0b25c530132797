package worker

import (
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// patience decides when to give up the sending of a trial. For example, with a drain allowance of 5 s, a broker that is to take
// 1,000 messages and confirms none for 5 s has stalled. patience never counts a time in which this process stood still.
type patience struct {
	trial   *trial
	unmoved *stopwatch   // since a count of the trial changed
	late    *clock.Timer // since a check first saw that the measured phase has ended; nil before
}

func newPatience(t *trial) *patience { return &patience{trial: t, unmoved: t.newStopwatch()} }

// stalled returns an error if none of the trial's counts has changed within the drain allowance while a confirmation was
// outstanding. A trial that time ends can't stall. It is called every few milliseconds.
func (p *patience) stalled() error {
	t := p.trial
	if t.load.Messages == 0 { // time ends it
		return nil
	}
	c := t.recording.books.Count()
	unmoved := p.unmoved.since(c.Sent + c.Acked + c.Failed + c.Received)
	if resolved(c) || unmoved <= t.load.Drain {
		return nil
	}
	return fmt.Errorf("the broker stopped answering: of %d messages sent, %d were confirmed and %d failed, then nothing for %s",
		c.Sent, c.Acked, c.Failed, t.load.Drain)
}

// overdue reports whether the measured phase ended longer ago than the drain allowance. Until then, messages that were due in the
// phase are still sent. It is called every few milliseconds.
func (p *patience) overdue() bool {
	if p.late == nil {
		if clock.Now() > p.trial.recording.measuredUntil.Load() {
			p.late = p.trial.newTimer()
		}
		return false
	}
	return p.late.Awake() > p.trial.load.Drain
}

// resolved reports whether every message sent was confirmed or refused.
func resolved(c measure.Count) bool { return c.Sent == c.Acked+c.Failed }

// stopwatch measures how long a count hasn't changed.
type stopwatch struct {
	timer *clock.Timer
	count int64
}

func (t *trial) newStopwatch() *stopwatch { return &stopwatch{timer: t.newTimer()} }

// since takes the present count and returns how long it hasn't changed.
func (s *stopwatch) since(count int64) time.Duration {
	if count != s.count {
		s.count = count
		s.timer.Reset()
	}
	return s.timer.Awake()
}
