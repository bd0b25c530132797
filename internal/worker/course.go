package worker

import (
	"math"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// course is what the producers send. Without a main schedule it is a closed loop.
type course struct {
	warmup   schedule.Schedule // over all producers, until the measured phase begins; nil: main begins with the warm-up
	main     schedule.Schedule
	start    int64 // ns on the clock's axis
	messages int64 // over all producers; 0: time ends it
}

// leg is one client's share of one schedule of a course.
type leg struct {
	share schedule.Schedule // nil: closed loop
	start int64             // of the schedule, ns on the clock's axis
	until func() int64      // what is due from here on isn't sent
	next  int64             // arrival to be sent
	limit int64             // arrivals
}

// limit is how many messages client i sends.
func (c course) limit(p *Plan, i int) int64 {
	if c.messages == 0 {
		return math.MaxInt64
	}
	return schedule.Deal(c.messages, i, p.clients(), len(p.Producers))
}

// share is what client i sends of s.
func (p *Plan) share(s schedule.Schedule, i int) schedule.Schedule {
	return schedule.Sequential(schedule.Dealt(s, i, p.clients(), len(p.Producers)))
}

// due counts the messages due by the course in [a, b); from is when the measured phase begins.
func (c course) due(from, a, b int64) int64 {
	if c.warmup == nil {
		return between(c.main, c.start, a, b)
	}
	return between(c.warmup, c.start, min(a, from), min(b, from)) + between(c.main, from, max(a, from), max(b, from))
}

func between(s schedule.Schedule, start, a, b int64) int64 {
	if a >= b {
		return 0
	}
	return s.Count(b-start) - s.Count(a-start)
}

// unsentValues bounds how many different waiting times the unsent messages of a producer and phase are given: of
// hundreds of millions, neighbours share the shortest of theirs.
const unsentValues = 100_000

// bookUnsent books what a producer of an ended trial never sent. ended is when sending ended.
func (p *producer) bookUnsent(t *trial, ended int64) {
	recorder := t.measure.ProducerOn(p.streams[0].plan.ID, p.index) // what was never sent belongs to no stream
	for _, l := range p.legs {
		if l.share == nil {
			if l.limit < math.MaxInt64 {
				recorder.UnsentUntimed(measure.Measured, l.limit-l.next)
			}
			continue
		}
		to := l.limit
		if to == math.MaxInt64 {
			to = l.share.Count(l.until() - l.start)
		}
		from := t.measure.MeasuredSince()
		measured := min(to, max(l.next, l.share.Count(from-l.start)))
		p.bookUnsentOf(recorder, l, measure.Warmup, l.next, measured, ended)
		p.bookUnsentOf(recorder, l, measure.Measured, measured, to, ended)
	}
}

func (p *producer) bookUnsentOf(recorder *measure.Producer, l *leg, phase measure.Phase, from, to, ended int64) {
	step := max(1, (to-from)/unsentValues)
	for ; from < to; from += step {
		n := min(step, to-from)
		intended := min(ended, l.start+l.share.At(from+n-1)) // of a number of messages, some may not even be due
		recorder.Unsent(phase, n, intended, ended, p.blame.own(intended, ended))
	}
}

// newTimer measures how long somebody else takes, leaving out what this process stands still.
func (t *trial) newTimer() *clock.Timer { return clock.NewTimer(t.watch) }
