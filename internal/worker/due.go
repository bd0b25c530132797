package worker

import "github.com/brokermark/brokermark/internal/schedule"

// dueCounter counts the messages of a course that are due in a period. It belongs to one goroutine, which should ask for later
// and later periods: for an earlier one, a random schedule is computed again from its first message.
type dueCounter struct {
	warmup schedule.Counter // nil: main covers the warm-up, too
	main   schedule.Counter
	start  int64 // of the first schedule, ns on the clock's axis
}

// newDueCounter returns a counter for a course; nil for a closed loop or a fixed number of messages, which are not due at known times.
func (c course) newDueCounter(p *Plan) *dueCounter {
	if c.main == nil || c.messages > 0 {
		return nil
	}
	d := &dueCounter{main: p.counter(c.main), start: c.start}
	if c.warmup != nil {
		d.warmup = p.counter(c.warmup)
	}
	return d
}

// count returns the number of messages due in [from, until). measuredSince is when the measured phase begins: the main schedule begins
// there if the warm-up has its own. For example, if that has 100/s until 5 s, and 1,000/s follow, 1,100 messages are due from 4 s until 6 s.
func (d *dueCounter) count(measuredSince, from, until int64) int64 {
	if d.warmup == nil {
		return countBetween(d.main, d.start, from, until)
	}
	return countBetween(d.warmup, d.start, min(from, measuredSince), min(until, measuredSince)) +
		countBetween(d.main, measuredSince, max(from, measuredSince), max(until, measuredSince))
}

// countBetween counts the messages due in [from, until) by a schedule that begins at start.
func countBetween(c schedule.Counter, start, from, until int64) int64 {
	if from >= until {
		return 0
	}
	before := c.Count(from - start) // the earlier time first
	return c.Count(until-start) - before
}
