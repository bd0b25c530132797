package worker

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// Moved returns the outcome with offset, in ns, added to all times: as another host's clock would have shown them. Times that
// are 0 (it never happened) or math.MaxInt64 (undecided) stay as they are.
func (o Outcome) Moved(offset int64) Outcome {
	if offset == 0 {
		return o
	}
	move := func(times ...*int64) {
		for _, t := range times {
			if *t != 0 && *t != math.MaxInt64 {
				*t += offset
			}
		}
	}
	move(&o.Start, &o.From, &o.Until, &o.FirstSent, &o.LastSent, &o.LastReceived, &o.LastAcked, &o.Backlog.FilledAt, &o.Backlog.From, &o.Backlog.To)
	for _, stops := range []*[]Stop{&o.Pauses.Stops, &o.Undelivered, &o.Unconfirmed} {
		*stops = slices.Clone(*stops) // the caller's outcome shares their memory
		for i := range *stops {
			move(&(*stops)[i].From, &(*stops)[i].To)
		}
	}
	o.Samples = slices.Clone(o.Samples)
	for i := range o.Samples {
		move(&o.Samples[i].At)
	}
	return o
}

// Merged returns the outcome of one trial that several workers ran together, each with a part of one plan (Plan.Split). All times
// must be on one clock (Moved). Counts are added and histograms merged, both exactly; backlog and silences are computed anew,
// from samples of all workers together. There must be at least one part. What the samples say of latencies is left to
// Joint.Quantiles.
func Merged(parts []Outcome) Outcome {
	if len(parts) == 1 {
		return parts[0]
	}
	merged := Outcome{Drained: true, From: math.MaxInt64, Start: math.MaxInt64}
	for _, part := range parts {
		merged.addCounts(part)
		merged.addTimes(part)
		merged.addEnding(part)
	}
	slices.SortFunc(merged.Streams, func(a, b measure.StreamBooks) int {
		return cmp.Or(cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Subscription, b.Subscription))
	})
	joint := NewJoint(len(parts))
	for i, part := range parts {
		joint.put(i, part.Samples)
	}
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
	o.Procs = max(o.Procs, part.Procs) // the limits of a trial are judged worker by worker
	o.Working = max(o.Working, part.Working)
	o.Pauses = o.Pauses.With(part.Pauses)
}

func (o *Outcome) addTimes(part Outcome) {
	o.Start = min(o.Start, part.Start)
	o.From = min(o.From, part.From)
	o.Until = max(o.Until, part.Until)
	o.FirstSent = earliest(o.FirstSent, part.FirstSent)
	o.LastSent = max(o.LastSent, part.LastSent)
	o.LastReceived = max(o.LastReceived, part.LastReceived)
	o.LastAcked = max(o.LastAcked, part.LastAcked)
	o.Backlog = o.Backlog.plus(part.Backlog)
}

// addEnding adds how a part ended. Of several errors, the first part's counts.
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

// Joined is the outcome of one trial that workers with parts of the plan ran which share its streams: Merged, with the books and
// latencies of what one of them sent and another one received. Outcomes are on the clock of this host; axes is where each worker's
// clock lies on it.
func (p Plan) Joined(outs []Outcome, axes []clock.Line, streams bool) Outcome {
	out := Merged(outs)
	parts := make([]measure.Part, len(outs))
	var sent int64
	out.Overdue = 0
	for i, o := range outs {
		if o.Shard == nil {
			if out.Err == nil {
				out.Err = errors.New("a worker that shares streams did not say what it counted")
			}
			return out
		}
		parts[i] = measure.Part{Shard: *o.Shard, Axis: axes[i]}
		for _, n := range o.Shard.Counts.Sent {
			sent += n
		}
		out.Overdue = max(out.Overdue, o.Overdue) // each of them has seen what was missing everywhere
	}
	shape := measure.Shape{Producers: p.producers(), Subscriptions: len(p.Topology.Subscriptions)}
	if p.KeyOrdered && p.Keys.some() {
		shape.Keys = p.Keys.N
	}
	t, err := measure.Join(shape, uint64(sent), parts)
	if err != nil {
		if out.Err == nil {
			out.Err = err
		}
		return out
	}
	out.Warmup, out.Measured = t.Books(measure.Warmup), t.Books(measure.Measured)
	out.Histograms, out.Streams = t.Histograms(measure.Measured), t.Streams(streams)
	out.Early, out.Unordered = t.Early(), t.Unordered()
	return out
}

// earliest returns the earlier of two times. 0 means that it never happened.
func earliest(a, b int64) int64 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}

// plus returns the draining of both backlogs as one: it begins with the first and ends with the last.
func (d Drained) plus(other Drained) Drained {
	return Drained{
		Filled: d.Filled + other.Filled, FilledBytes: d.FilledBytes + other.FilledBytes, FilledAt: max(d.FilledAt, other.FilledAt),
		From: earliest(d.From, other.From), To: max(d.To, other.To), Received: d.Received + other.Received,
	}
}
