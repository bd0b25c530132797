package worker

import (
	"sort"

	"github.com/brokermark/brokermark/internal/hist"
)

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

func newJointLatencies(parts int) jointLatencies {
	return jointLatencies{parts: make([]partLatency, parts), history: NewThinned[intervalQuantiles](maxKept)}
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
