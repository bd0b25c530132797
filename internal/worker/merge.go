package worker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/busiest"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// Moved returns the outcome with offset, in ns, added to all times: as another host's clock would have shown them. A time of 0 stays
// 0, because it stands for an event that didn't happen. The times in Shard are not changed.
func (o Outcome) Moved(offset int64) Outcome {
	for _, t := range []*int64{
		&o.Start, &o.From, &o.Until, &o.FirstSent, &o.LastSent, &o.LastReceived, &o.LastAcked, &o.Ended,
		&o.Backlog.FilledAt, &o.Backlog.From, &o.Backlog.To,
	} {
		if *t != 0 {
			*t += offset
		}
	}
	o.Pauses.Stops = moved(o.Pauses.Stops, offset)
	o.DeliverySilences = moved(o.DeliverySilences, offset)
	o.ConfirmationSilences = moved(o.ConfirmationSilences, offset)
	o.Samples = slices.Clone(o.Samples)
	for i := range o.Samples {
		o.Samples[i].At += offset
	}
	return o
}

// moved returns a copy of intervals with offset added to all times.
func moved(intervals []Interval, offset int64) []Interval {
	intervals = slices.Clone(intervals)
	for i := range intervals {
		intervals[i].From += offset
		intervals[i].To += offset
	}
	return intervals
}

// Merged returns the outcome of one trial that several workers ran together, given that of each. Their parts of the plan share no
// stream (Plan.Split), and all times must be on one clock (Moved). For example, the measured phase of one worker was from 10 s to
// 20 s, and it received 500 messages. That of another one was from 10.1 s to 20.2 s, with 700 messages. Merged, that is 1,200
// messages from 10 s to 20.2 s.
//
// Counts are added and histograms merged, both exactly. Backlog and silences are computed anew, from the samples of all workers
// together. These samples have no latencies yet: Joint.SetQuantiles sets them. Of several errors, the first part's is kept. There
// must be at least one part.
func Merged(parts []Outcome) Outcome {
	if len(parts) == 1 {
		return parts[0]
	}
	merged := Outcome{Drained: true, Listened: parts[0].Listened}
	joint := NewJoint(len(parts))
	for i, part := range parts {
		merged.add(part)
		joint.queue(i, part.Samples)
	}
	slices.SortFunc(merged.Streams, func(a, b measure.StreamBooks) int {
		return cmp.Or(cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Subscription, b.Subscription))
	})
	merged.Samples = joint.Rest()
	for _, s := range merged.Samples {
		if s.At >= merged.From {
			merged.BacklogMax = max(merged.BacklogMax, s.Backlog)
		}
	}
	merged.DeliverySilences = Silences(merged.Samples, merged.From, merged.Until, Deliveries)
	merged.ConfirmationSilences = Silences(merged.Samples, merged.From, merged.Until, Confirmations)
	return merged
}

// add adds a part, without the fields that are computed from all parts together.
func (o *Outcome) add(part Outcome) {
	o.Err, o.SendErr = cmp.Or(o.Err, part.Err), cmp.Or(o.SendErr, part.SendErr)
	o.Warmup.Add(part.Warmup)
	o.Measured.Add(part.Measured)
	o.Histograms.Merge(part.Histograms)
	o.Filling = o.Filling.Merge(part.Filling)
	o.Streams = append(o.Streams, part.Streams...)
	o.Backlog.add(part.Backlog)

	o.Start = earliest(o.Start, part.Start)
	o.From = earliest(o.From, part.From)
	o.Until = max(o.Until, part.Until)
	o.FirstSent = earliest(o.FirstSent, part.FirstSent)
	o.LastSent = max(o.LastSent, part.LastSent)
	o.LastReceived = max(o.LastReceived, part.LastReceived)
	o.LastAcked = max(o.LastAcked, part.LastAcked)
	o.Ended = max(o.Ended, part.Ended)

	o.Hopeless = o.Hopeless || part.Hopeless
	o.Drained = o.Drained && part.Drained
	o.Arriving = o.Arriving || part.Arriving
	o.Overdue += part.Overdue
	o.Listened = min(o.Listened, part.Listened)
	o.Dropped += part.Dropped
	o.Others += part.Others
	o.Pauses = o.Pauses.Union(part.Pauses)

	o.Producers += part.Producers
	o.Procs = max(o.Procs, part.Procs) // the maximum of all workers, because the limits of a trial are judged worker by worker
	o.Busiest = busier(o.Busiest, part.Busiest)
	o.hold(part.Held, part.HeldWhy)
	o.Blocked += part.Blocked
	o.Sending += part.Sending
	o.Preparing = max(o.Preparing, part.Preparing)
	o.Working = max(o.Working, part.Working)
	o.Early.Deliveries += part.Early.Deliveries
	o.Early.By = max(o.Early.By, part.Early.By)
}

// hold records for how long the broker took no messages of one client, and why; the longest time counts.
func (o *Outcome) hold(held time.Duration, why string) {
	if held > o.Held {
		o.Held, o.HeldWhy = held, why
	}
}

// busier returns the goroutine that used more of a core.
func busier(a, b busiest.Goroutine) busiest.Goroutine {
	if b.Share > a.Share {
		return b
	}
	return a
}

func (d *BacklogDrain) add(part BacklogDrain) {
	d.Filled += part.Filled
	d.FilledBytes += part.FilledBytes
	d.FilledAt = max(d.FilledAt, part.FilledAt)
	d.From = earliest(d.From, part.From)
	d.To = max(d.To, part.To)
	d.Received += part.Received
}

// earliest returns the earlier of two times. A time of 0, of an event that didn't happen, is ignored.
func earliest(a, b int64) int64 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}

// Joined returns the outcome of one trial of workers that share streams (Plan.Spread), each of which ran load. It is Merged, but
// its books and latencies include the messages that one worker sent and another one received: they are computed anew from the
// shards of all. The times of the outcomes must be on the clock of this host (Moved). Those inside a shard are on its worker's
// own clock: axes[i] converts those of outcomes[i]. If the shards can't be joined, Err is set, and the books miss the messages
// between workers.
func (p Plan) Joined(load Load, outcomes []Outcome, axes []clock.Line) Outcome {
	out := Merged(outcomes)
	out.Overdue = 0 // each worker counted the missing deliveries of all, so the sum would be wrong
	for _, o := range outcomes {
		out.Overdue = max(out.Overdue, o.Overdue)
	}
	t, err := p.joinShards(load, outcomes, axes)
	if err != nil {
		if out.Err == nil { // otherwise a worker failed, and its error explains why a shard is missing
			out.Err = err
		}
		return out
	}
	out.Warmup, out.Measured = t.Books(measure.Warmup), t.Books(measure.Measured)
	if out.Warmup.Lost+out.Measured.Lost > 0 {
		p.bookUndelivered(t, load, outcomes)
	}
	out.Histograms, out.Streams = t.Histograms(measure.Measured), t.Streams(load.Streams)
	out.Unordered = t.Unordered()
	return out
}

// mostPerSecond is more messages than any worker sends in a second: sim takes some twenty million in this process.
const mostPerSecond = 50_000_000

// possible is a bound of the messages that so many workers can have sent in a trial, above any measured one. A set of messages takes a byte for
// eight of them, so that a worker must not claim what it likes.
func (l Load) possible(workers int) int64 {
	length := max(l.Warmup.For, l.Warmup.Max) + l.Duration + l.Drain + time.Minute
	return l.Messages + int64(float64(workers)*mostPerSecond*length.Seconds())
}

// joinShards books the shards of all outcomes in one trial.
func (p Plan) joinShards(load Load, outcomes []Outcome, axes []clock.Line) (*measure.Trial, error) {
	parts := make([]measure.Part, len(outcomes))
	var sent int64
	for i, o := range outcomes {
		if o.Shard == nil {
			return nil, errors.New("a worker that shares streams returned no shard")
		}
		parts[i] = measure.Part{Shard: *o.Shard, Axis: axes[i]}
		for _, n := range o.Shard.Counts.Sent {
			if sent += n; n < 0 || sent < 0 || sent > load.possible(len(outcomes)) {
				return nil, fmt.Errorf("worker %d says that it sent %d messages in a phase; all workers together can have sent %d at most", i+1, n, load.possible(len(outcomes)))
			}
		}
	}
	shape := measure.Shape{Producers: p.producerIDs(), Subscriptions: len(p.Topology.Subscriptions)}
	if p.KeyOrdered && p.Keys.some() {
		shape.Keys = p.Keys.N
	}
	return measure.Join(shape, uint64(sent), parts)
}
