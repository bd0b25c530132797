package worker

import (
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// course is what a trial sends: a schedule for the warm-up, if it has its own, and the main one. The clients deal the messages of
// both out among them, and a client's share of a schedule is a segment.
//
// For example, two clients share a constant rate of 100 messages/s that starts at 5 s: client 0 sends messages 0, 2, 4 … of the
// schedule, intended at 5.00 s, 5.02 s, 5.04 s …, and client 1 sends messages 1, 3, 5 …. If the warm-up has a schedule of its own
// and the measured phase begins at 8.5 s, both clients leave the first schedule there, and message 0 of the second one is
// intended at 8.5 s.
type course struct {
	warmup   schedule.Schedule // until the measured phase begins; nil: main covers the warm-up, too
	main     schedule.Schedule // nil: closed loop
	start    int64             // of the first schedule, ns on the clock's axis
	messages int64             // of main, over all clients; 0: the end of the measured phase ends the course
}

// limits returns, by client, how many messages of the main schedule it sends; unlimited if the end of the measured phase ends the
// course.
func (c course) limits(p *Plan) []int64 {
	if c.messages > 0 {
		return p.limits(c.main, c.messages)
	}
	return slices.Repeat([]int64{unlimited}, p.clients())
}

// unlimited is a number of messages, or of ns, that is never reached.
const unlimited = math.MaxInt64

// segment is one client's share of one schedule, and how much of it the client has sent. Its messages are numbered from 0.
type segment struct {
	share schedule.Schedule // nil: closed loop
	turns schedule.Turns    // which of the client's producers sends which message
	start int64             // of the schedule, ns on the clock's axis
	until func() int64      // returns when the segment ends, as far as that is decided: its messages are intended before
	limit int64             // the segment has no more messages than this; unlimited if until alone ends it
	next  int64             // index of the next message to send
}

// newSegment returns client i's share of a schedule that begins at start; s is nil in a closed loop.
func (p *Plan) newSegment(s schedule.Schedule, i int, start int64, until func() int64) *segment {
	deal, client := p.deal(), p.clientInWhole(i)
	seg := &segment{turns: deal.Turns(s, client), start: start, until: until, limit: unlimited}
	if s != nil {
		seg.share = schedule.Sequential(deal.Share(s, client))
	}
	return seg
}

// at returns when message i is intended, ns on the clock's axis; schedule.Never if the schedule has no such message.
func (s *segment) at(i int64) int64 {
	offset := s.share.At(i)
	if offset > schedule.Never-s.start {
		return schedule.Never
	}
	return s.start + offset
}

// nextAt returns when the next message is intended, ns on the clock's axis: now in a closed loop.
func (s *segment) nextAt(now int64) int64 {
	if s.share == nil {
		return now
	}
	return s.at(s.next)
}

// due counts the messages that are due now and not sent, up to most. In a closed loop all are due.
func (s *segment) due(now int64, most int) int {
	most = int(min(s.limit-s.next, int64(most)))
	if s.share == nil {
		return most
	}
	return schedule.Due(s.share, s.next, now-s.start, most)
}

// lastIntended returns when the last message of a schedule that was sent in this trial was intended; 0 if none was sent.
func (w *Worker) lastIntended() (last int64) {
	for _, c := range w.clients {
		for _, s := range c.segments {
			if s.share != nil && s.next > 0 {
				last = max(last, s.at(s.next-1))
			}
		}
	}
	return last
}

// maxUnsentBookings bounds how many times the unsent messages of a segment are booked. Hundreds of millions may be unsent, and
// booking each of them would take longer than the trial. Neighbours are then booked together, with the shortest of their waiting
// times: it is too short by less than a hundred thousandth of the time over which they were due, if they came at a constant rate.
const maxUnsentBookings = 100_000

// bookUnsent books the messages that this client was to send in a trial and never sent. A message that was due is booked with the
// time that it had waited when sending ended. Otherwise the latencies would look the better the fewer messages the broker took.
func (c *client) bookUnsent(t *trial) {
	recorder := t.recording.books.ProducerOn(c.firstProducer(), c.index) // a message that was never sent belongs to no stream
	for _, s := range c.segments {
		if s.share != nil {
			c.bookUnsentOf(s, recorder, t)
		} else if s.limit != unlimited { // in a closed loop messages have no intended time
			recorder.UnsentUntimed(measure.Measured, s.limit-s.next)
		}
	}
}

// bookUnsentOf books the unsent messages of a segment with a schedule. For example, a client was to send 100 messages/s until 10
// s, and had sent the first 700 when sending ended at 12 s. Messages 700 to 999 were due, and have waited for 5 s to 2.01 s. If a
// number of messages was asked for, more may be left that were not due yet. They haven't waited.
func (c *client) bookUnsentOf(s *segment, recorder *measure.Producer, t *trial) {
	ended := t.sendingEndedAt
	first, end := s.next, s.limit // the messages from first on, below end, were not sent
	if end == unlimited {
		end = s.share.Count(s.until() - s.start)
	}
	end = max(end, first)
	dueEnd := clamp(s.share.Count(ended-s.start), first, end) // those below it were due
	warmupEnd := clamp(s.share.Count(t.recording.books.MeasuredSince()-s.start), first, end)

	together := max(1, (dueEnd-first+maxUnsentBookings-1)/maxUnsentBookings) // how many messages are booked at once; rounded up
	book := func(phase measure.Phase, from, to int64) {
		dueTo := clamp(dueEnd, from, to)
		for n := from; n < dueTo; n += together {
			last := min(n+together, dueTo) - 1 // of these messages, it has waited for the shortest time
			intended := s.at(last)
			recorder.Unsent(phase, last+1-n, intended, ended, c.ownLag.ownPart(c.workLeft(s, last-first, intended), ended))
		}
		recorder.UnsentUntimed(phase, to-dueTo)
	}
	book(measure.Warmup, first, warmupEnd)
	book(measure.Measured, warmupEnd, end)
}

// clamp returns the number from least to most that is nearest to n.
func clamp(n, least, most int64) int64 { return max(least, min(n, most)) }

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
