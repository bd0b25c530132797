package worker

import "github.com/brokermark/brokermark/internal/clock"

// sleeper sleeps for one goroutine, until a time on the clock's axis.
type sleeper interface {
	SleepUntil(t int64)
	Close()
}

// maxThreads is how many producers may have a thread of their own to sleep on. More producers share
// one alarm: a thousand threads would cost more than its little delay.
const maxThreads = 4

// sleepers makes the sleepers of all producers of a trial.
type sleepers struct {
	alarm *clock.Alarm // that all producers share; nil: each producer has a thread of its own
}

func newSleepers(producers int) sleepers {
	if producers <= maxThreads {
		return sleepers{}
	}
	return sleepers{alarm: clock.NewAlarm(coalesce)}
}

// next makes the sleeper of one producer, whose goroutine calls it.
func (s sleepers) next() sleeper {
	if s.alarm == nil {
		return clock.NewSleeper()
	}
	return s.alarm.NewWaiter()
}

// close ends the alarm. All producers must have ended.
func (s sleepers) close() {
	if s.alarm != nil {
		s.alarm.Close()
	}
}
