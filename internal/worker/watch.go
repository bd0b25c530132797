package worker

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// idle watches a trial that has no end in time: while something is outstanding, something has to move.
type idle struct {
	trial *trial
	last  measure.Count
	timer *clock.Timer // since something moved
}

func newIdle(t *trial) *idle { return &idle{trial: t, timer: t.newTimer()} }

func (i *idle) tooLong() bool {
	c := i.trial.measure.Count()
	if c != i.last || c.Sent == c.Acked+c.Failed {
		i.last = c
		i.timer.Reset()
	}
	return i.timer.Awake() > i.trial.load.Drain
}

func (i *idle) err() error {
	return fmt.Errorf("the broker stopped answering: of %d messages sent, %d were confirmed and %d failed, then nothing for %s",
		i.last.Sent, i.last.Acked, i.last.Failed, i.trial.load.Drain)
}

// lateness watches a trial that ends at a time: what is due by then may be sent late, but not for ever.
type lateness struct {
	trial *trial
	over  bool
	timer *clock.Timer // since the end
}

func (l *lateness) tooLong() bool {
	if !l.over {
		l.over = clock.Now() > l.trial.until.Load()
		l.timer.Reset()
	}
	return l.over && l.timer.Awake() > l.trial.load.Drain
}
