package worker

import (
	"cmp"
	"errors"
	"slices"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// Several workers may run one trial together, each with a part of the plan. The functions below make one Outcome of theirs: Moved brings
// the times of each to one clock, then Merged or Joined combines them. For example, one worker's messages were due from 10 s to 20 s and
// 500 of them were received, another's from 10.1 s to 20.2 s and 700; together that is 1,200 received from 10 s to 20.2 s.

// Moved returns the outcome with offset, in ns, added to all times, as another host's clock would have shown them. A time of 0, of an
// event that didn't happen, stays 0.
func (o Outcome) Moved(offset int64) Outcome {
	for _, t := range []*int64{
		&o.Start, &o.From, &o.Until, &o.FirstSent, &o.LastSent, &o.LastReceived, &o.LastAcked,
		&o.Backlog.FilledAt, &o.Backlog.From, &o.Backlog.To,
	} {
		if *t != 0 {
			*t += offset
		}
	}
	o.Pauses.Stops = movedStops(o.Pauses.Stops, offset)
	o.Undelivered = movedStops(o.Undelivered, offset)
	o.Unconfirmed = movedStops(o.Unconfirmed, offset)
	o.Samples = slices.Clone(o.Samples)
	for i := range o.Samples {
		o.Samples[i].At += offset
	}
	return o
}

// movedStops returns a copy of stops with offset added to all times.
func movedStops(stops []Interval, offset int64) []Interval {
	stops = slices.Clone(stops)
	for i := range stops {
		stops[i].From += offset
		stops[i].To += offset
	}
	return stops
}

// Merged returns the outcome of one trial of workers whose parts of the plan share no stream (Plan.Split). All times must be on one clock
// (Moved). Counts are added and histograms merged, both exactly. Backlog and silences are computed anew, from the samples of all workers
// together; Joint.SetQuantiles sets the latencies of these samples. There must be at least one part.
func Merged(parts []Outcome) Outcome {
	if len(parts) == 1 {
		return parts[0]
	}
	merged := Outcome{Drained: true}
	joint := NewJoint(len(parts))
	for i, part := range parts {
		merged.addCounts(part)
		merged.addTimes(part)
		merged.addEnding(part)
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
	merged.Undelivered = Silences(merged.Samples, merged.From, merged.Until, Deliveries)
	merged.Unconfirmed = Silences(merged.Samples, merged.From, merged.Until, Confirmations)
	return merged
}

func (o *Outcome) addCounts(part Outcome) {
	o.Warmup.Add(part.Warmup)
	o.Measured.Add(part.Measured)
	o.Histograms.Merge(part.Histograms)
	o.Streams = append(o.Streams, part.Streams...)
	o.Overdue += part.Overdue
	o.Producers += part.Producers
	o.Blocked += part.Blocked
	o.Sending += part.Sending
	o.Procs = max(o.Procs, part.Procs) // of one worker, because the limits of a trial are judged worker by worker
	o.Working = max(o.Working, part.Working)
	o.Pauses = o.Pauses.Union(part.Pauses)
}

func (o *Outcome) addTimes(part Outcome) {
	o.Start = earliest(o.Start, part.Start)
	o.From = earliest(o.From, part.From)
	o.Until = max(o.Until, part.Until)
	o.FirstSent = earliest(o.FirstSent, part.FirstSent)
	o.LastSent = max(o.LastSent, part.LastSent)
	o.LastReceived = max(o.LastReceived, part.LastReceived)
	o.LastAcked = max(o.LastAcked, part.LastAcked)
	o.Backlog = o.Backlog.plus(part.Backlog)
}

// addEnding adds how a part ended. Of several errors, that of the first part is kept.
func (o *Outcome) addEnding(part Outcome) {
	o.Drained = o.Drained && part.Drained
	o.Arriving = o.Arriving || part.Arriving
	o.Hopeless = o.Hopeless || part.Hopeless
	if o.SendErr == nil {
		o.SendErr = part.SendErr
	}
	if o.Err == nil {
		o.Err = part.Err
	}
}

// plus returns the draining of both backlogs as one: it begins with the first and ends with the last.
func (d BacklogDrain) plus(other BacklogDrain) BacklogDrain {
	return BacklogDrain{
		Filled:      d.Filled + other.Filled,
		FilledBytes: d.FilledBytes + other.FilledBytes,
		FilledAt:    max(d.FilledAt, other.FilledAt),
		From:        earliest(d.From, other.From),
		To:          max(d.To, other.To),
		Received:    d.Received + other.Received,
	}
}

// earliest returns the earlier of two times, of which 0 means that the event didn't happen.
func earliest(a, b int64) int64 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}

// Joined returns the outcome of one trial of workers that share streams (Plan.Spread). It is Merged, but its books and latencies include
// the messages that one worker sent and another one received: they are computed anew from the shards of all. The times of the outcomes
// must be on the clock of this host (Moved), but those inside a shard are on its worker's own clock, and axes has, by worker, the line
// that converts them. allStreams is Load.Streams.
func (p Plan) Joined(outcomes []Outcome, axes []clock.Line, allStreams bool) Outcome {
	out := Merged(outcomes)
	t, err := p.joinShards(outcomes, axes)
	if err != nil {
		if out.Err == nil {
			out.Err = err
		}
		return out
	}
	out.Warmup, out.Measured = t.Books(measure.Warmup), t.Books(measure.Measured)
	out.Histograms, out.Streams = t.Histograms(measure.Measured), t.Streams(allStreams)
	out.Early, out.Unordered = t.Early(), t.Unordered()
	out.Overdue = 0
	for _, o := range outcomes {
		out.Overdue = max(out.Overdue, o.Overdue) // not the sum: each worker counted the missing deliveries of all
	}
	return out
}

func (p Plan) joinShards(outcomes []Outcome, axes []clock.Line) (*measure.Trial, error) {
	parts := make([]measure.Part, len(outcomes))
	var sent int64
	for i, o := range outcomes {
		if o.Shard == nil {
			return nil, errors.New("a worker that shares streams returned no shard")
		}
		parts[i] = measure.Part{Shard: *o.Shard, Axis: axes[i]}
		for _, n := range o.Shard.Counts.Sent {
			sent += n
		}
	}
	shape := measure.Shape{Producers: p.producerIDs(), Subscriptions: len(p.Topology.Subscriptions)}
	if p.KeyOrdered && p.Keys.some() {
		shape.Keys = p.Keys.N
	}
	return measure.Join(shape, uint64(sent), parts)
}
