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
	start    int64   // ns on the clock's axis
	messages int64   // over all producers; 0: time ends it
	limits   []int64 // of each client; nil: time ends it
}

// agenda counts what is due by a course, for one goroutine.
type agenda struct {
	warmup, main schedule.Counter // nil as in the course
	start        int64
}

// leg is one client's share of one schedule of a course.
type leg struct {
	share schedule.Schedule // nil: closed loop
	turns schedule.Turns    // of the client's producers
	start int64             // of the schedule, ns on the clock's axis
	until func() int64      // what is due from here on isn't sent
	next  int64             // arrival to be sent
	limit int64             // arrivals
}

// at is when arrival i is intended, ns on the clock's axis; schedule.Never for one that doesn't happen.
func (l *leg) at(i int64) int64 {
	offset := l.share.At(i)
	if offset > schedule.Never-l.start {
		return schedule.Never
	}
	return l.start + offset
}

func (p *Plan) deal() schedule.Deal {
	return schedule.Deal{Clients: p.clients(), Producers: len(p.Producers)}
}

// limit is how many messages client i sends.
func (c course) limit(i int) int64 {
	if c.limits == nil {
		return math.MaxInt64
	}
	return c.limits[i]
}

// leg is client i's share of s from start on.
func (p *Plan) leg(s schedule.Schedule, i int, start int64) *leg {
	d := p.deal()
	return &leg{share: schedule.Sequential(d.Share(s, i)), turns: d.Turns(s, i), start: start, limit: math.MaxInt64}
}

// agenda makes schedules of its own, because they are for one goroutine.
func (c course) agenda(p *Plan) agenda {
	a := agenda{start: c.start}
	if c.main != nil {
		a.main = p.deal().Counter(c.main)
	}
	if c.warmup != nil {
		a.warmup = p.deal().Counter(c.warmup)
	}
	return a
}

// due counts the messages due in [a, b); from is when the measured phase begins.
func (g agenda) due(from, a, b int64) int64 {
	if g.warmup == nil {
		return between(g.main, g.start, a, b)
	}
	return between(g.warmup, g.start, min(a, from), min(b, from)) + between(g.main, from, max(a, from), max(b, from))
}

// between asks in order, since to go back is dear.
func between(s schedule.Counter, start, a, b int64) int64 {
	if a >= b {
		return 0
	}
	before := s.Count(a - start)
	return s.Count(b-start) - before
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
		intended := min(ended, l.at(from+n-1)) // of a number of messages, some may not even be due
		recorder.Unsent(phase, n, intended, ended, p.blame.own(intended, ended))
	}
}

// newTimer measures how long somebody else takes, leaving out what this process stands still.
func (t *trial) newTimer() *clock.Timer { return clock.NewTimer(t.watch) }
