package worker

import (
	"sort"

	"github.com/brokermark/brokermark/internal/hist"
)

// Joint joins the samples of several workers that run parts of one plan, with all times on one clock, into one sequence of samples.
// Counts are added up. Quantiles can't be added, so the latencies of each half second are merged before their quantiles are taken.
//
// It goes round by round: a round has one sample of each part, and ends when a part's next sample comes.
type Joint struct {
	parts    []jointPart
	first    int64         // time of the latest sample in the first batch that came
	last     int64         // time of the latest sample that is in a round
	interval hist.Snapshot // latencies of the half second under way
	ended    bool          // an interval has ended since latencies were last returned
	now      Quantiles     // of the interval that ended last
	all      Thinned[timedQuantiles]
}

// jointPart is the state of one part in a Joint.
type jointPart struct {
	waiting    []Sample // that are in no round yet
	newest     int64    // time of the latest sample that came
	complete   bool     // no more samples come
	sample     Sample   // the latest that is in a round
	inRound    bool     // sample is in the round under way
	latency    *Latency // of its whole trial so far
	inInterval bool     // its latencies of the interval under way are merged
}

type timedQuantiles struct {
	at int64
	Quantiles
}

// maxWait is how much later than one part's samples those of another part may come before a round goes on without it. An agent sends
// its samples twice a second.
const maxWait = 1_500_000_000 // ns

// NewJoint makes a Joint of so many parts.
func NewJoint(parts int) *Joint {
	return &Joint{parts: make([]jointPart, parts), all: Thinned[timedQuantiles]{Limit: maxKept}}
}

// Add adds samples of one part, in the order of time. It returns the joint samples up to the time for which those of all parts have
// come; a part is not waited for longer than maxWait.
func (j *Joint) Add(part int, samples []Sample) []Sample {
	j.queue(part, samples)
	return j.advance()
}

func (j *Joint) queue(part int, samples []Sample) {
	p := &j.parts[part]
	p.waiting = append(p.waiting, samples...)
	for _, s := range samples {
		p.newest = max(p.newest, s.At)
	}
	if j.first == 0 {
		j.first = p.newest
	}
}

// End notes that no more samples of a part come. It returns joint samples as Add does.
func (j *Joint) End(part int) []Sample {
	j.parts[part].complete = true
	return j.advance()
}

// Rest returns the joint samples that are left when no more come of any part.
func (j *Joint) Rest() []Sample {
	for i := range j.parts {
		j.parts[i].complete = true
	}
	samples := j.advance()
	begun := false
	for _, p := range j.parts {
		begun = begun || p.inRound
	}
	if begun {
		j.ended = true // so that the last sample has the latencies of all
		samples = append(samples, j.endRound())
	}
	return samples
}

// advance moves waiting samples into rounds, the earliest first, until a part must be waited for. It returns the samples of the rounds
// that end.
func (j *Joint) advance() []Sample {
	var samples []Sample
	for {
		p := j.earliestPart()
		if p == nil || j.mustWait() {
			return samples
		}
		if p.inRound {
			samples = append(samples, j.endRound())
		}
		j.addToRound(p)
	}
}

// earliestPart returns the part with the earliest waiting sample; nil if none waits.
func (j *Joint) earliestPart() *jointPart {
	var earliest *jointPart
	for i := range j.parts {
		p := &j.parts[i]
		if len(p.waiting) > 0 && (earliest == nil || p.waiting[0].At < earliest.waiting[0].At) {
			earliest = p
		}
	}
	return earliest
}

// mustWait reports whether the next sample of some part may still come in time.
func (j *Joint) mustWait() bool {
	newest := j.first
	for _, p := range j.parts {
		newest = max(newest, p.newest)
	}
	for _, p := range j.parts {
		if len(p.waiting) == 0 && !p.complete && newest-max(p.newest, j.first) < maxWait {
			return true
		}
	}
	return false
}

// addToRound moves the first waiting sample of a part into the round under way.
func (j *Joint) addToRound(p *jointPart) {
	p.sample, p.waiting, p.inRound = p.waiting[0], p.waiting[1:], true
	j.last = max(j.last, p.sample.At)
	if p.sample.Latency != nil {
		j.addToInterval(p, p.sample.Latency)
	}
}

// addToInterval merges the latencies of a part since its last ones. An interval ends when all parts are in it, or when a part comes a
// second time because the others have no latencies.
func (j *Joint) addToInterval(p *jointPart, latency *Latency) {
	if p.inInterval {
		j.endInterval()
	}
	var before hist.Snapshot
	if p.latency != nil {
		before = p.latency.EndToEnd
	}
	j.interval = j.interval.Merge(latency.EndToEnd.Sub(before))
	p.latency, p.inInterval = latency, true
	for _, p := range j.parts {
		if !p.inInterval {
			return
		}
	}
	j.endInterval()
}

func (j *Joint) endInterval() {
	j.now, j.interval, j.ended = quantilesOf(j.interval), hist.Snapshot{}, true
	j.all.Add(timedQuantiles{j.last, j.now})
	for i := range j.parts {
		j.parts[i].inInterval = false
	}
}

// endRound ends the round under way and returns its sample, with latencies if an interval has ended since they were last returned. The
// last sample of a part that is not in the round stands for it.
func (j *Joint) endRound() Sample {
	s := Sample{At: j.last, EndToEnd: j.now}
	for i := range j.parts {
		j.parts[i].inRound = false
		s.addCounts(j.parts[i].sample)
	}
	s.Undelivered = max(0, s.Undelivered) // below 0 in parts whose consumers receive messages of other parts
	s.Backlog = max(s.Unconfirmed, s.Undelivered)
	if !j.ended {
		return s
	}
	j.ended, s.Latency = false, &Latency{}
	for _, p := range j.parts {
		if p.latency != nil {
			s.Latency.EndToEnd = s.Latency.EndToEnd.Merge(p.latency.EndToEnd)
			s.Latency.Service = s.Latency.Service.Merge(p.latency.Service)
		}
	}
	return s
}

// addCounts adds the counts of a part's sample.
func (s *Sample) addCounts(part Sample) {
	s.Sending = s.Sending || part.Sending
	s.Phase = max(s.Phase, part.Phase)
	s.Count.Sent += part.Count.Sent
	s.Count.Bytes += part.Count.Bytes
	s.Count.Acked += part.Count.Acked
	s.Count.Failed += part.Count.Failed
	s.Count.Received += part.Count.Received
	s.Due += part.Due
	s.Unconfirmed += part.Unconfirmed
	s.Undelivered += part.Undelivered
	s.FromSend.Count += part.FromSend.Count
	s.FromSend.Sum += part.FromSend.Sum
}

// SetQuantiles sets EndToEnd in samples of the same trial, which have no latencies: to the joint quantiles at their times, or to zero
// before the first interval ended.
func (j *Joint) SetQuantiles(samples []Sample) {
	known := j.all.Values()
	for i := range samples {
		n := sort.Search(len(known), func(k int) bool { return known[k].at > samples[i].At })
		samples[i].EndToEnd = Quantiles{}
		if n > 0 {
			samples[i].EndToEnd = known[n-1].Quantiles
		}
	}
}

// quantilesOf returns the quantiles of latencies.
func quantilesOf(h hist.Snapshot) Quantiles {
	return Quantiles{Count: h.Count(), P50: h.Quantile(0.5), P99: h.Quantile(0.99)}
}
