package worker

import (
	"math"
	"sort"

	"github.com/brokermark/brokermark/internal/hist"
)

// Joint makes one row of samples of those of several workers that run parts of one plan, whose times are on one clock. Counts are
// added up. Quantiles can't be, so the latencies of each half second are merged before their quantiles are taken.
type Joint struct {
	parts    []joined
	first    int64         // time of the first sample that came
	sampled  []Sample      // the latest of each part
	last     int64         // time of the last sample that was taken in
	fresh    bool          // an interval has ended since latencies were last passed on
	interval hist.Snapshot // latencies of the half second under way
	now      Quantiles
	over     Thinned[timedQuantiles]
}

// joined is what a Joint knows of one part.
type joined struct {
	waiting  []Sample
	newest   int64    // time of the last sample that came
	ended    bool     // no more come
	inRound  bool     // it has a sample in the round that is not yet passed on
	latency  *Latency // of its whole trial so far
	measured bool     // its latencies of the interval under way are in
}

type timedQuantiles struct {
	at int64
	Quantiles
}

// patience is how much later than the samples of one part those of the others may come before they are passed on without it: an
// agent tells its samples twice a second.
const patience = 1_500_000_000 // ns

// NewJoint joins the samples of so many parts.
func NewJoint(parts int) *Joint {
	return &Joint{parts: make([]joined, parts), sampled: make([]Sample, parts), over: Thinned[timedQuantiles]{Limit: maxKept}}
}

// Add takes samples of one part, in the order of time, and returns the joint ones up to the time until which all parts are known.
// A part that is silent for long is not waited for.
func (j *Joint) Add(part int, samples []Sample) []Sample {
	j.put(part, samples)
	return j.take(patience)
}

func (j *Joint) put(part int, samples []Sample) {
	p := &j.parts[part]
	p.waiting = append(p.waiting, samples...)
	for _, s := range samples {
		p.newest = max(p.newest, s.At)
	}
	if j.first == 0 {
		j.first = p.newest
	}
}

// End tells that no more samples of a part come, and returns what Add would.
func (j *Joint) End(part int) []Sample {
	j.parts[part].ended = true
	return j.take(patience)
}

// Rest returns the joint samples that are left when no more come of any part.
func (j *Joint) Rest() []Sample {
	out := j.take(math.MinInt64)
	j.fresh = true
	if s, ok := j.pass(); ok {
		out = append(out, s)
	}
	return out
}

// take goes on by the earliest sample while every part has one, or is silent for longer than patience.
func (j *Joint) take(patience int64) (out []Sample) {
	for {
		first, newest := -1, j.first
		for i, p := range j.parts {
			newest = max(newest, p.newest)
			if len(p.waiting) > 0 && (first < 0 || p.waiting[0].At < j.parts[first].waiting[0].At) {
				first = i
			}
		}
		if first < 0 {
			return out
		}
		for _, p := range j.parts {
			if len(p.waiting) == 0 && !p.ended && newest-max(p.newest, j.first) < patience {
				return out
			}
		}
		// A round is over when a part comes a second time.
		if j.parts[first].inRound {
			s, _ := j.pass()
			out = append(out, s)
		}
		j.next(first)
	}
}

// next takes in the first sample that waits of a part.
func (j *Joint) next(i int) {
	p := &j.parts[i]
	s := p.waiting[0]
	p.waiting, p.inRound = p.waiting[1:], true
	j.last = max(j.last, s.At)
	j.sampled[i] = s
	if s.Latency == nil {
		return
	}
	if p.measured { // a second time: the others have none in this interval
		j.endInterval()
	}
	var before hist.Snapshot
	if p.latency != nil {
		before = p.latency.EndToEnd
	}
	j.interval = j.interval.Merge(s.Latency.EndToEnd.Sub(before))
	p.latency, p.measured = s.Latency, true
	for _, p := range j.parts {
		if !p.measured {
			return
		}
	}
	j.endInterval()
}

func (j *Joint) endInterval() {
	h := j.interval
	j.now, j.interval = Quantiles{h.Count(), h.Quantile(0.5), h.Quantile(0.99)}, hist.Snapshot{}
	j.over.Add(timedQuantiles{j.last, j.now})
	j.fresh = true
	for i := range j.parts {
		j.parts[i].measured = false
	}
}

// pass ends a round; false: nothing has come since the last one.
func (j *Joint) pass() (s Sample, ok bool) {
	for i := range j.parts {
		ok = ok || j.parts[i].inRound
		j.parts[i].inRound = false
	}
	s = summed(j.sampled)
	s.At, s.EndToEnd = j.last, j.now
	if !j.fresh {
		return s, ok
	}
	j.fresh, s.Latency = false, &Latency{}
	for _, p := range j.parts {
		if p.latency != nil {
			s.Latency.EndToEnd = s.Latency.EndToEnd.Merge(p.latency.EndToEnd)
			s.Latency.Service = s.Latency.Service.Merge(p.latency.Service)
		}
	}
	return s, ok
}

// Quantiles sets in samples of the same trial, which hold no latencies, the quantiles that the parts had together at their times.
func (j *Joint) Quantiles(samples []Sample) {
	known := j.over.Values()
	for i := range samples {
		n := sort.Search(len(known), func(k int) bool { return known[k].at > samples[i].At })
		samples[i].EndToEnd = Quantiles{}
		if n > 0 {
			samples[i].EndToEnd = known[n-1].Quantiles
		}
	}
}

// summed is one view of workers that run parts of one plan. It has no time and no latencies of its own.
func summed(parts []Sample) (t Sample) {
	for _, s := range parts {
		t.Sending = t.Sending || s.Sending
		t.Phase = max(t.Phase, s.Phase)
		t.Count.Sent += s.Count.Sent
		t.Count.Bytes += s.Count.Bytes
		t.Count.Acked += s.Count.Acked
		t.Count.Failed += s.Count.Failed
		t.Count.Received += s.Count.Received
		t.Due += s.Due
		t.Unconfirmed += s.Unconfirmed
		t.Undelivered += s.Undelivered
		t.FromSend.Count += s.FromSend.Count
		t.FromSend.Sum += s.FromSend.Sum
	}
	t.Undelivered = max(0, t.Undelivered) // of workers that share streams only the sum means something
	t.Backlog = max(t.Unconfirmed, t.Undelivered)
	return t
}
