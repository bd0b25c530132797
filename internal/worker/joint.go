package worker

import (
	"math"
	"slices"
	"sort"

	"github.com/brokermark/brokermark/internal/hist"
)

// Joint joins the samples of several workers, each of which runs a part of one trial, into one sequence of samples. All times
// must be on one clock.
//
// Samples are joined in rounds. A round takes the earliest samples, at most one of each part. Its joint sample has the sum of
// their counts and the time of the latest. The next round begins with the second sample of a part. A part without a sample in a
// round counts with its last one:
//
//	part 0   20 ms: 10 sent    40 ms: 20 sent    60 ms: 30 sent
//	part 1   23 ms:  7 sent                      62 ms: 21 sent
//	joint    23 ms: 17 sent    40 ms: 27 sent    62 ms: 51 sent
//
// Quantiles can't be added. Those of a joint sample are computed from the merged histograms of all parts (jointLatencies).
type Joint struct {
	parts     []jointPart
	at        int64 // time of the newest sample in any round so far
	latencies jointLatencies
}

// jointPart is one part of a Joint.
type jointPart struct {
	waiting []Sample // that are in no round yet
	// reached is the time of the newest sample that came. For a part without samples it is the time of the first batch of any
	// part; 0: there has been none.
	reached int64
	ended   bool   // no more samples come
	last    Sample // the last one that is in a round
	inRound bool   // last is in the round under way
}

// maxWait, in ns, is how far a part's samples may be behind those of others before a round goes on without it. Agents send their
// samples twice a second.
const maxWait = 1_500_000_000

// NewJoint makes a Joint of so many parts.
func NewJoint(parts int) *Joint {
	latencies := jointLatencies{parts: make([]partLatency, parts), history: NewThinned[intervalQuantiles](maxKept)}
	return &Joint{parts: make([]jointPart, parts), latencies: latencies}
}

// Add takes further samples of one part, in the order of time. It returns the joint samples that are complete now: all parts have
// delivered samples for them, or the missing ones are more than maxWait late.
func (j *Joint) Add(part int, samples []Sample) []Sample {
	j.queue(part, samples)
	return j.advance()
}

func (j *Joint) queue(part int, samples []Sample) {
	p := &j.parts[part]
	p.waiting = append(p.waiting, samples...)
	for _, s := range samples {
		p.reached = max(p.reached, s.At)
	}
	for i := range j.parts {
		if j.parts[i].reached == 0 {
			j.parts[i].reached = p.reached
		}
	}
}

// End notes that a part has no more samples. It returns joint samples as Add does.
func (j *Joint) End(part int) []Sample {
	j.parts[part].ended = true
	return j.advance()
}

// Rest ends all parts and returns the joint samples that are left. The last one has latencies.
func (j *Joint) Rest() []Sample {
	for i := range j.parts {
		j.parts[i].ended = true
	}
	samples := j.advance()
	if slices.ContainsFunc(j.parts, func(p jointPart) bool { return p.inRound }) {
		j.latencies.unreported = true
		samples = append(samples, j.endRound())
	}
	return samples
}

// SetQuantiles sets EndToEnd in samples of the same trial that come without latencies: to the joint quantiles at their times.
func (j *Joint) SetQuantiles(samples []Sample) {
	for i := range samples {
		samples[i].EndToEnd = j.latencies.quantilesAt(samples[i].At)
	}
}

// advance moves waiting samples into rounds, the earliest first, until a part must be waited for. It returns the samples of the
// rounds that end.
func (j *Joint) advance() []Sample {
	var samples []Sample
	for {
		part, found := j.earliest()
		if !found || j.mustWait() {
			return samples
		}
		if j.parts[part].inRound {
			samples = append(samples, j.endRound())
		}
		j.addToRound(part)
	}
}

// earliest returns the part with the earliest waiting sample, if any waits.
func (j *Joint) earliest() (part int, found bool) {
	at := int64(math.MaxInt64)
	for i, p := range j.parts {
		if len(p.waiting) > 0 && p.waiting[0].At < at {
			part, at, found = i, p.waiting[0].At, true
		}
	}
	return part, found
}

// mustWait reports whether the next sample of some part may still come in time.
func (j *Joint) mustWait() bool {
	var newest int64
	for _, p := range j.parts {
		newest = max(newest, p.reached)
	}
	return slices.ContainsFunc(j.parts, func(p jointPart) bool {
		return len(p.waiting) == 0 && !p.ended && newest-p.reached < maxWait
	})
}

// addToRound moves the first waiting sample of a part into the round under way.
func (j *Joint) addToRound(part int) {
	p := &j.parts[part]
	p.last, p.waiting, p.inRound = p.waiting[0], p.waiting[1:], true
	j.at = max(j.at, p.last.At)
	if p.last.Latency != nil {
		j.latencies.add(part, *p.last.Latency, j.at)
	}
}

// endRound ends the round under way and returns its sample, with latencies if they are new.
func (j *Joint) endRound() Sample {
	joint := Sample{At: j.at, EndToEnd: j.latencies.current}
	for i := range j.parts {
		j.parts[i].inRound = false
		joint.addCounts(j.parts[i].last)
	}
	joint.Undelivered = max(0, joint.Undelivered) // it is below 0 in parts whose consumers receive messages of other parts
	joint.Backlog = max(joint.Unconfirmed, joint.Undelivered)
	if j.latencies.unreported {
		joint.Latency, j.latencies.unreported = j.latencies.merged(), false
	}
	return joint
}

// addCounts adds the counts of a part's sample. The later phase counts, and the trial sends as long as one of its parts does.
func (s *Sample) addCounts(part Sample) {
	s.Phase = max(s.Phase, part.Phase)
	s.Sending = s.Sending || part.Sending
	s.Count = s.Count.Plus(part.Count)
	s.Due += part.Due
	s.Unconfirmed += part.Unconfirmed
	s.Undelivered += part.Undelivered
	s.FromSend.Count += part.FromSend.Count
	s.FromSend.Sum += part.FromSend.Sum
}

// jointLatencies computes the quantiles of the latencies of several parts of a trial, interval by interval.
//
// About twice a second each part delivers the histograms of its whole trial so far. An interval ends when all parts have
// delivered, or when one delivers a second time because others are silent. The histograms of all parts are then merged. What has
// been added to them since the interval before are the latencies of this one. For example, if the merged histogram holds 900
// messages at the end of an interval and 2,000 at the end of the next, the quantiles of the second interval are those of 1,100
// messages.
type jointLatencies struct {
	parts      []partLatency
	before     hist.Snapshot // of all parts at the end of the last interval: from intended time to receipt
	current    Quantiles     // of the last interval; zero before the end of the first
	history    Thinned[intervalQuantiles]
	unreported bool // an interval has ended since the last joint sample with latencies
}

type partLatency struct {
	latest     Latency // of its whole trial so far, as delivered last
	inInterval bool    // it has delivered in the interval under way
}

type intervalQuantiles struct {
	end       int64 // of the interval, ns on the clock's axis
	quantiles Quantiles
}

// add takes the latencies of a part's whole trial so far, which were delivered at a time.
func (l *jointLatencies) add(part int, latest Latency, at int64) {
	if l.parts[part].inInterval {
		l.endInterval(at)
	}
	l.parts[part] = partLatency{latest: latest, inInterval: true}
	for _, p := range l.parts {
		if !p.inInterval {
			return
		}
	}
	l.endInterval(at)
}

func (l *jointLatencies) endInterval(at int64) {
	all := l.merged().EndToEnd
	l.current, l.before, l.unreported = quantilesOf(all.Sub(l.before)), all, true
	l.history.Add(intervalQuantiles{end: at, quantiles: l.current})
	for i := range l.parts {
		l.parts[i].inInterval = false
	}
}

// merged returns the latencies of all parts, of the whole trial so far.
func (l *jointLatencies) merged() *Latency {
	all := &Latency{}
	for _, p := range l.parts {
		all.EndToEnd = all.EndToEnd.Merge(p.latest.EndToEnd)
		all.Service = all.Service.Merge(p.latest.Service)
	}
	return all
}

// quantilesAt returns the quantiles of the last interval that had ended at a time; zero before the end of the first.
func (l *jointLatencies) quantilesAt(at int64) Quantiles {
	history := l.history.Values()
	ended := sort.Search(len(history), func(i int) bool { return history[i].end > at })
	if ended == 0 {
		return Quantiles{}
	}
	return history[ended-1].quantiles
}

func quantilesOf(h hist.Snapshot) Quantiles {
	return Quantiles{Count: h.Count(), P50: h.Quantile(0.5), P99: h.Quantile(0.99)}
}
