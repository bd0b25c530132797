package lab

import (
	"context"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// metering finds out what one trial uses: processor time, memory, disk. It reads all meters at three times:
//
//	warm-up | measured phase | drain |
//	        begin            end     drained
//
// Shares, the cores in use, are those of the measured phase. Cost includes the drain, the wait after the last send for messages under
// way, because the broker still works on them. For example, if the broker's processor time is 10 s at begin, 16 s at end and 17 s at
// drained, and the phase lasts 3 s, its share is 2 cores and its cost 7 s.
//
// While the trial runs, observe (live.go) reads the meters about twice a second, for the live view and for the series.
type metering struct {
	bench *bench  // the repetition that the trial is part of
	stage string  // what the live view calls the trial
	rate  float64 // offered, messages per second; 0 in a closed loop
	// counted is set if a number of messages ends the measured phase, not time. What is measured then goes on until the last of
	// them has arrived, so the shares are those of the phase or of the drain, whichever are larger.
	counted bool

	over    chan struct{}  // closed when the trial has ended
	pending sync.WaitGroup // goroutines that wait for a time to read the meters; only they write begin and end
	begin   *fullReading   // when the measured phase began; nil if it never did
	end     *fullReading   // when the measured phase ended; nil if the trial ended before
	endOnce sync.Once
	drained *fullReading // when the drain was over; nil unless the trial then listened on

	remoteErr error // why the readings of the remote meters are not known; nil if they are
	peak      peakMemory
	live      liveMeters
	bursts    []burst // in the order of time
}

func newMetering(b *bench, stage string, rate float64) *metering {
	cores := worker.NewThinned[Cores](maxCores)
	return &metering{bench: b, stage: stage, rate: rate, over: make(chan struct{}), live: liveMeters{perSample: cores}}
}

// follow sets the hooks of a load that tell the meters when its phases begin and end. Of these hooks the load may have only Hopeless,
// which is called as before. measuring is called with the start of the measured phase.
func (m *metering) follow(load *worker.Load, measuring func(at int64)) {
	load.Observe = m.observe
	load.Measuring = func(at int64) {
		m.schedule(at, load.Duration)
		measuring(at)
	}
	load.Drained = func() {
		r := m.readDrained()
		m.drained = &r
		m.bench.announce("listening for messages that come again")
	}
	if load.Messages > 0 {
		m.counted, load.Sent = true, m.endNow
	}
	if hopeless := load.Hopeless; hopeless != nil {
		load.Hopeless = func(samples []worker.Sample) bool {
			isHopeless := hopeless(samples)
			if isHopeless {
				m.endNow()
			}
			return isHopeless
		}
	}
}

// schedule has the meters read when the measured phase begins, at begin on the clock's axis, and when it ends, a length later.
// If length is 0, only endNow ends it. It does not block.
func (m *metering) schedule(begin int64, length time.Duration) {
	m.pending.Go(func() {
		if !m.sleepUntil(begin) {
			return
		}
		r := m.readPhase()
		m.begin = &r
		if length > 0 && m.sleepUntil(begin+int64(length)) {
			m.readEnd()
		}
	})
}

// endNow ends the measured phase: the last of a number of messages was sent, or the load is hopeless. It does not block.
func (m *metering) endNow() { m.pending.Go(m.readEnd) }

// readEnd reads the meters at the end of the measured phase. Only its first call counts.
func (m *metering) readEnd() {
	m.endOnce.Do(func() {
		r := m.readPhase()
		m.end = &r
	})
}

// sleepUntil blocks until a time on the clock's axis. It returns false if the trial was over before.
func (m *metering) sleepUntil(t int64) bool {
	select {
	case <-time.After(time.Duration(t - clock.Now())):
		return true
	case <-m.over:
		return false
	}
}

// finish reads the meters after the drain and returns what a trial cost, with a doubt if that is not known. parts are those of the agents
// that ran it. The load must have ended, so that none of its hooks is called any more. If ctx has ended, finish waits for no remote meter.
func (m *metering) finish(ctx context.Context, out worker.Outcome, parts []agent.Part) (trialCost, []store.Doubt) {
	begin, end, drained := m.readings()
	doubts := m.completeReadings(ctx, &begin.reading, &end.reading, &drained.reading)
	useAgents(parts, &begin.reading, &end.reading, &drained.reading)
	for _, r := range []fullReading{begin, end, drained} {
		m.peak.add(r.reading)
	}
	phase := m.intervalBetween(begin, end)
	basis := phase // of the shares
	if m.counted {
		basis = m.busiest(begin, end, drained)
	}
	window := max(time.Duration(drained.at-begin.at), time.Millisecond) // never 0, which would say that nothing was metered
	cost := m.cost(begin, drained, out)
	cost.Seconds, cost.Shares = window.Seconds(), basis.shares
	return trialCost{
		Cost: cost, Window: window, GCPause: end.gc - begin.gc, Queued: end.queued - begin.queued, Stolen: phase.neighbours.Stolen,
		bursts: m.bursts, strain: basis.strain, neighbours: basis.neighbours, brokerMayBeNeighbour: m.bench.meters.hidden,
	}, doubts
}

// readings returns what the meters read when the measured phase began and ended, and what they read now, after the drain. A phase that
// never began or ended does so now.
func (m *metering) readings() (begin, end, drained fullReading) {
	close(m.over)
	m.pending.Wait()
	if m.drained != nil {
		drained = *m.drained
	} else {
		drained = m.readDrained()
	}
	begin, end = drained, drained
	if m.begin != nil {
		begin = *m.begin
	}
	if m.end != nil && m.end.at > begin.at {
		end = *m.end
	}
	return begin, end, drained
}

// busiest returns the measured phase or the drain, whichever used more cores. If each is too short to tell, it returns both as one.
func (m *metering) busiest(begin, end, drained fullReading) interval {
	b := busier(m.intervalBetween(begin, end), m.intervalBetween(end, drained))
	if b.shares == nil {
		return m.intervalBetween(begin, drained)
	}
	return b
}
