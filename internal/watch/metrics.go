package watch

import (
	"sync"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/study"
)

// Metrics is a Prometheus collector of a run in progress. It keeps copies of the samples that the lab takes anyway: a
// scrape touches nothing that a message touches.
type Metrics struct {
	follower *Follower

	mu       sync.Mutex
	points   map[string]*pointTotals // by the template of their topics' names
	statuses map[string]int          // repetitions that are done
}

// NewMetrics exposes the run that f follows. Both have to receive the same events.
func NewMetrics(f *Follower) *Metrics {
	return &Metrics{follower: f, points: map[string]*pointTotals{}, statuses: map[string]int{}}
}

// pointTotals are the counters of a point. The lab counts every trial from zero, but a Prometheus counter must never fall,
// so the trials that are over are added up.
type pointTotals struct {
	broker     string
	past       totals // of the trials that are over
	current    totals // of the trial that runs; zero between two trials
	hasLatency bool   // a trial with a schedule ran; the latency of a closed loop says nothing
}

// totals are the counters of one or more trials.
type totals struct {
	acked, failed, received int64
	endToEnd, service       hist.Snapshot
}

func (t totals) plus(o totals) totals {
	return totals{
		acked: t.acked + o.acked, failed: t.failed + o.failed, received: t.received + o.received,
		endToEnd: t.endToEnd.Merge(o.endToEnd), service: t.service.Merge(o.service),
	}
}

// Event takes the next event of the lab.
func (m *Metrics) Event(e lab.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e.Kind {
	case lab.Sampled:
		m.pointOf(e.Run).sample(e)
	case lab.Began, lab.Staged: // a new stage: the trial of the one before is over
		m.endTrial(e.Run)
	case lab.Ended:
		m.endTrial(e.Run)
		m.statuses[string(e.Record.Status)]++
	case lab.Skipped: // no trial was run for it, nor for a spared one
		m.statuses["skipped"]++
	case lab.Spared:
		m.statuses["spared"]++
	}
}

// endTrial adds the trial that ran, if one did, to those of its point that are over.
func (m *Metrics) endTrial(r study.Run) {
	if p := m.points[topicTemplate(r)]; p != nil {
		p.past, p.current = p.past.plus(p.current), totals{}
	}
}

// pointOf returns the counters of the point of a repetition, and begins them if there are none.
func (m *Metrics) pointOf(r study.Run) *pointTotals {
	template := topicTemplate(r)
	if m.points[template] == nil {
		m.points[template] = &pointTotals{broker: r.Point.Spec.Broker}
	}
	return m.points[template]
}

// topicTemplate describes the names that the lab gives to the topics of a point: "bm-0123abcd-{repetition}-{run}-{topic}".
func topicTemplate(r study.Run) string {
	id := r.Point.ID
	return "bm-" + id[:min(len(id), 8)] + "-{repetition}-{run}-{topic}"
}

// sample replaces the counters of the trial that runs. Only every fifth sample has histograms; until the next one the last
// ones stay.
func (p *pointTotals) sample(e lab.Event) {
	counts := e.Sample.Count
	p.current.acked, p.current.failed, p.current.received = counts.Acked, counts.Failed, counts.Received
	if e.ClosedLoop() {
		return
	}
	p.hasLatency = true
	if l := e.Sample.Latency; l != nil {
		p.current.endToEnd, p.current.service = l.EndToEnd, l.Service
	}
}
