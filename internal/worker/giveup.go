package worker

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// idle decides when to give up a trial that a number of messages ends. While a confirmation is outstanding, some count of the trial
// must change within the drain allowance.
type idle struct {
	trial *trial
	last  measure.Count
	timer *clock.Timer // since a count changed
}

func newIdle(t *trial) *idle { return &idle{trial: t, timer: t.newTimer()} }

// tooLong reports whether no count has changed for too long.
func (i *idle) tooLong() bool {
	c := i.trial.measure.Count()
	if c != i.last || c.Sent == c.Acked+c.Failed {
		i.last = c
		i.timer.Reset()
	}
	return i.timer.Awake() > i.trial.load.Drain
}

// err returns the error of a trial that is given up.
func (i *idle) err() error {
	return fmt.Errorf("the broker stopped answering: of %d messages sent, %d were confirmed and %d failed, then nothing for %s",
		i.last.Sent, i.last.Acked, i.last.Failed, i.trial.load.Drain)
}

// lateness decides when to end the sending of a trial that time ends. Messages that were due in the measured phase may be sent after it,
// for as long as the drain allowance.
type lateness struct {
	trial *trial
	over  bool         // the measured phase has ended
	timer *clock.Timer // since it ended
}

func newLateness(t *trial) *lateness { return &lateness{trial: t, timer: t.newTimer()} }

// tooLong reports whether sending has gone on for too long.
func (l *lateness) tooLong() bool {
	if !l.over {
		l.over = clock.Now() > l.trial.measuredUntil.Load()
		l.timer.Reset()
	}
	return l.over && l.timer.Awake() > l.trial.load.Drain
}
