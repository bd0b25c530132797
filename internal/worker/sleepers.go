package worker

import (
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// sleeper sleeps for one goroutine, until a time on the clock's axis.
type sleeper interface {
	SleepUntil(t int64)
	Close()
}

// maxThreads is how many clients may have a thread of their own to sleep on, which wakes them most exactly. More clients share
// one alarm: it wakes them a little later, but a thousand threads would cost more.
const maxThreads = 4

// sleepers makes the sleepers of all clients of a trial.
type sleepers struct {
	alarm *clock.Alarm // that all clients share; nil: each client has a thread of its own
}

// newSleepers makes the sleepers of so many clients. gap is how far apart wake-ups on a shared thread are.
func newSleepers(clients int, gap func() time.Duration) sleepers {
	if clients <= maxThreads {
		return sleepers{}
	}
	return sleepers{alarm: clock.NewAlarm(gap)}
}

// next makes the sleeper of one client, whose goroutine calls it.
func (s sleepers) next() sleeper {
	if s.alarm == nil {
		return clock.NewSleeper()
	}
	return s.alarm.NewWaiter()
}

// close ends the alarm. All clients must have ended.
func (s sleepers) close() {
	if s.alarm != nil {
		s.alarm.Close()
	}
}
