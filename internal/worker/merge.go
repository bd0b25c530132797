package worker

import (
	"cmp"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/measure"
)

// Moved is the outcome with all times later by so many ns: on another clock.
func (o Outcome) Moved(by int64) Outcome {
	if by == 0 {
		return o
	}
	move := func(times ...*int64) {
		for _, t := range times {
			if *t != 0 && *t != math.MaxInt64 { // else it never came
				*t += by
			}
		}
	}
	move(&o.Start, &o.From, &o.Until, &o.FirstSent, &o.LastSent, &o.LastReceived, &o.LastAcked, &o.Backlog.FilledAt, &o.Backlog.From, &o.Backlog.To)
	for _, stops := range []*[]Stop{&o.Pauses.Stops, &o.Undelivered, &o.Unconfirmed} {
		*stops = slices.Clone(*stops)
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

// Merged is the outcome of one trial that workers with parts of one plan ran together, on one clock. Counts add up and histograms
// merge without loss. What its samples say of latencies is left to Joint.Quantiles.
func Merged(parts []Outcome) Outcome {
	if len(parts) == 1 {
		return parts[0]
	}
	out := Outcome{Drained: true, From: math.MaxInt64, Start: math.MaxInt64}
	for _, o := range parts {
		out.Warmup.Add(o.Warmup)
		out.Measured.Add(o.Measured)
		out.Histograms.Merge(o.Histograms)
		out.Streams = append(out.Streams, o.Streams...)
		out.Start, out.From, out.Until = min(out.Start, o.Start), min(out.From, o.From), max(out.Until, o.Until)
		out.FirstSent = earliest(out.FirstSent, o.FirstSent)
		out.LastSent, out.LastReceived, out.LastAcked = max(out.LastSent, o.LastSent), max(out.LastReceived, o.LastReceived), max(out.LastAcked, o.LastAcked)
		out.Backlog = out.Backlog.and(o.Backlog)
		out.Drained, out.Arriving, out.Hopeless = out.Drained && o.Drained, out.Arriving || o.Arriving, out.Hopeless || o.Hopeless
		out.Overdue += o.Overdue
		out.Procs, out.Working = max(out.Procs, o.Procs), max(out.Working, o.Working)
		out.Blocked, out.Sending, out.Producers = out.Blocked+o.Blocked, out.Sending+o.Sending, out.Producers+o.Producers
		out.Pauses = out.Pauses.With(o.Pauses)
		if out.SendErr == nil {
			out.SendErr = o.SendErr
		}
		if out.Err == nil {
			out.Err = o.Err
		}
	}
	slices.SortFunc(out.Streams, func(a, b measure.StreamBooks) int {
		return cmp.Or(cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Subscription, b.Subscription))
	})
	joint := NewJoint(len(parts))
	for i, o := range parts {
		joint.put(i, o.Samples)
	}
	out.Samples = joint.Rest()
	for _, s := range out.Samples {
		if s.At >= out.From {
			out.BacklogMax = max(out.BacklogMax, s.Backlog)
		}
	}
	out.Undelivered = Silences(out.Samples, out.From, out.Until, Deliveries)
	out.Unconfirmed = Silences(out.Samples, out.From, out.Until, Confirmations)
	return out
}

// earliest of two times, of which 0 is none.
func earliest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// and is what draining both took: from when the first could be drained until the last was.
func (d Drained) and(o Drained) Drained {
	return Drained{
		Filled: d.Filled + o.Filled, FilledBytes: d.FilledBytes + o.FilledBytes, FilledAt: max(d.FilledAt, o.FilledAt),
		From: earliest(d.From, o.From), To: max(d.To, o.To), Received: d.Received + o.Received,
	}
}
