package worker

import (
	"math"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// course is what all producers of a trial send together: one schedule, or one for the warm-up and one for the measured
// phase.
type course struct {
	warmup   schedule.Schedule // until the measured phase begins; nil: main begins with the warm-up
	main     schedule.Schedule // nil: closed loop
	start    int64             // of the first schedule, ns on the clock's axis
	messages int64             // over all producers; 0: time ends the course
	limits   []int64           // how many of them each client sends; nil: time ends the course
}

// agenda counts the messages that are due by a course. It is for one goroutine, which asks for later and later times.
type agenda struct {
	warmup, main schedule.Counter // nil as in the course
	start        int64
}

// segment is one client's share of one schedule of a course, and how far the client has come with it.
type segment struct {
	share schedule.Schedule // nil: closed loop
	turns schedule.Turns    // which of the client's producers sends which arrival
	start int64             // of the schedule, ns on the clock's axis
	until func() int64      // arrivals intended at or after this time are not sent
	next  int64             // index of the next arrival to be sent
	limit int64             // how many arrivals are sent; math.MaxInt64: time ends the segment
}

// at returns when arrival i is intended, ns on the clock's axis; schedule.Never if it doesn't happen.
func (s *segment) at(i int64) int64 {
	offset := s.share.At(i)
	if offset > schedule.Never-s.start {
		return schedule.Never
	}
	return s.start + offset
}

// deal says how a schedule is dealt out over clients and producers.
func (p *Plan) deal() schedule.Deal {
	if p.Part != nil {
		return p.Part.Of
	}
	return schedule.Deal{Clients: p.clients(), Producers: len(p.Producers)}
}

// limit returns how many messages client i sends; math.MaxInt64 if time ends the course.
func (c course) limit(i int) int64 {
	if c.limits == nil {
		return math.MaxInt64
	}
	return c.limits[i]
}

// segment returns client i's share of a schedule that begins at start. The caller sets until.
func (p *Plan) segment(s schedule.Schedule, i int, start int64) *segment {
	deal, c := p.deal(), p.client(i)
	return &segment{share: schedule.Sequential(deal.Share(s, c)), turns: deal.Turns(s, c), start: start, limit: math.MaxInt64}
}

// agenda makes counters of its own, because each is for one goroutine.
func (c course) agenda(p *Plan) agenda {
	a := agenda{start: c.start}
	if c.main != nil {
		a.main = p.counter(c.main)
	}
	if c.warmup != nil {
		a.warmup = p.counter(c.warmup)
	}
	return a
}

// due counts the messages due in [from, until); measuredSince is when the measured phase begins.
func (a agenda) due(measuredSince, from, until int64) int64 {
	if a.warmup == nil {
		return between(a.main, a.start, from, until)
	}
	return between(a.warmup, a.start, min(from, measuredSince), min(until, measuredSince)) +
		between(a.main, measuredSince, max(from, measuredSince), max(until, measuredSince))
}

// between counts the arrivals in [from, until) of a schedule that begins at start. It asks for the earlier time first, since
// a counter that goes back begins from scratch.
func between(c schedule.Counter, start, from, until int64) int64 {
	if from >= until {
		return 0
	}
	before := c.Count(from - start)
	return c.Count(until-start) - before
}

// unsentValues bounds how many different waiting times the unsent messages of a producer and phase are given. If there are
// more messages, neighbours share the shortest of their waiting times. Booking hundreds of millions one by one would take
// longer than the trial.
const unsentValues = 100_000

// bookUnsent books the messages that were due in an ended trial and that this client never sent. ended is when sending
// ended.
func (p *producer) bookUnsent(t *trial, ended int64) {
	recorder := t.measure.ProducerOn(p.streams[0].plan.ID, p.index) // a message that was never sent belongs to no stream
	for _, s := range p.segments {
		if s.share == nil {
			if s.limit < math.MaxInt64 {
				recorder.UnsentUntimed(measure.Measured, s.limit-s.next)
			}
			continue
		}
		last := s.limit
		if last == math.MaxInt64 {
			last = s.share.Count(s.until() - s.start)
		}
		firstMeasured := s.share.Count(t.measure.MeasuredSince() - s.start)
		firstMeasured = min(last, max(s.next, firstMeasured))
		p.bookUnsentArrivals(recorder, s, measure.Warmup, s.next, firstMeasured, ended)
		p.bookUnsentArrivals(recorder, s, measure.Measured, firstMeasured, last, ended)
	}
}

// bookUnsentArrivals books the arrivals [from, to) of a segment.
func (p *producer) bookUnsentArrivals(recorder *measure.Producer, s *segment, phase measure.Phase, from, to, ended int64) {
	step := max(1, (to-from)/unsentValues)
	for ; from < to; from += step {
		n := min(step, to-from)
		intended := min(ended, s.at(from+n-1)) // of a number of messages, some may not even be due
		recorder.Unsent(phase, n, intended, ended, p.ownLag.of(intended, ended))
	}
}

// newTimer returns a timer for how long somebody else takes: it stops while this process stands still.
func (t *trial) newTimer() *clock.Timer { return clock.NewTimer(t.watch) }
