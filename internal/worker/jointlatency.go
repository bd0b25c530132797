package worker

import (
	"sort"

	"github.com/brokermark/brokermark/internal/hist"
)

// jointLatencies merges the latencies of several parts of a trial, interval by interval.
//
// About twice a second a part delivers the histogram of its whole trial so far. Less its previous one, that is the histogram of the
// interval. An interval ends when every part has delivered, or when a part delivers a second time because others are silent. Its
// quantiles are taken from the merged histogram of all parts.
type jointLatencies struct {
	parts      []partLatency
	interval   hist.Snapshot // from intended time to receipt, of the interval under way
	current    Quantiles     // of the interval that ended last; zero before the first
	history    Thinned[timedQuantiles]
	unreported bool // an interval has ended since the last report
}

type partLatency struct {
	trial      *Latency // of its whole trial so far; nil: it has delivered nothing
	inInterval bool     // it has delivered for the interval under way
}

type timedQuantiles struct {
	at int64 // end of the interval, ns on the clock's axis
	Quantiles
}

func newJointLatencies(parts int) jointLatencies {
	return jointLatencies{parts: make([]partLatency, parts), history: NewThinned[timedQuantiles](maxKept)}
}

// add takes the latencies of a part's whole trial so far, which were delivered at a time.
func (l *jointLatencies) add(part int, trial *Latency, at int64) {
	p := &l.parts[part]
	if p.inInterval {
		l.endInterval(at)
	}
	var before hist.Snapshot
	if p.trial != nil {
		before = p.trial.EndToEnd
	}
	l.interval = l.interval.Merge(trial.EndToEnd.Sub(before))
	p.trial, p.inInterval = trial, true
	for _, p := range l.parts {
		if !p.inInterval {
			return
		}
	}
	l.endInterval(at)
}

func (l *jointLatencies) endInterval(at int64) {
	l.current, l.interval, l.unreported = quantilesOf(l.interval), hist.Snapshot{}, true
	l.history.Add(timedQuantiles{at: at, Quantiles: l.current})
	for i := range l.parts {
		l.parts[i].inInterval = false
	}
}

// report returns the latencies of all parts, of the whole trial so far.
func (l *jointLatencies) report() *Latency {
	l.unreported = false
	all := &Latency{}
	for _, p := range l.parts {
		if p.trial != nil {
			all.EndToEnd = all.EndToEnd.Merge(p.trial.EndToEnd)
			all.Service = all.Service.Merge(p.trial.Service)
		}
	}
	return all
}

// quantilesAt returns the quantiles of the last interval that had ended at a time; zero before the first.
func (l *jointLatencies) quantilesAt(at int64) Quantiles {
	history := l.history.Values()
	ended := sort.Search(len(history), func(i int) bool { return history[i].at > at })
	if ended == 0 {
		return Quantiles{}
	}
	return history[ended-1].Quantiles
}

func quantilesOf(h hist.Snapshot) Quantiles {
	return Quantiles{Count: h.Count(), P50: h.Quantile(0.5), P99: h.Quantile(0.99)}
}
