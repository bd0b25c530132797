package lab

import (
	"context"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/worker"
)

// metering finds out what one trial uses: processor time, memory, disk. It reads all meters at three times:
//
//	warm-up | measured phase | drain |
//	        begin            end     drained
//
// Shares of the processor are those of the measured phase. Cost includes the drain, because messages that the phase has sent
// are still being worked on. For example, if the broker's processor time is 10 s at begin, 16 s at end and 17 s at drained, and the
// phase lasts 3 s, its share is 2 cores and its cost 7 s.
//
// While the trial runs, observe (live.go) reads the meters about twice a second, for the live view and for the series.
type metering struct {
	bench *bench
	stage string  // what the live view calls the trial
	rate  float64 // offered, messages per second; 0 in a closed loop
	// counted is set if a number of messages ends the measured phase, not time. What is measured then goes on until the last of
	// them has arrived.
	counted bool

	over    chan struct{}  // closed when the trial has ended
	pending sync.WaitGroup // goroutines that read the meters at a time to come; only they write begin and end
	begin   *reading       // when the measured phase began; nil if it never did
	end     *reading       // when the measured phase ended; nil if the trial ended before
	endOnce sync.Once

	remoteErr error // why the readings of the remote meters are not known; nil if they are
	peak      peakMemory
	live      liveMeters
	bursts    []burst // in the order of time
}

func newMetering(b *bench, stage string, rate float64) *metering {
	return &metering{bench: b, stage: stage, rate: rate, over: make(chan struct{}), live: liveMeters{perSample: worker.NewThinned[Cores](maxCores)}}
}

// follow sets the hooks of a load that tell the meters when its phases begin and end. measuring is called with the start of the
// measured phase.
func (m *metering) follow(load *worker.Load, measuring func(at int64)) {
	load.Observe = m.observe
	load.Measuring = func(at int64) {
		m.schedule(at, load.Duration)
		measuring(at)
	}
	if load.Messages > 0 {
		load.Sent = m.endsWithLastSend()
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

// endsWithLastSend has the measured phase end when a number of messages was sent. The load calls sent at that time.
func (m *metering) endsWithLastSend() (sent func()) {
	m.counted = true
	return m.endNow
}

// schedule has the meters read when the measured phase begins, at begin on the clock's axis, and when it ends, a length later.
// If length is 0, only endNow ends it. It does not block.
func (m *metering) schedule(begin int64, length time.Duration) {
	m.pending.Go(func() {
		if !m.sleepUntil(begin) {
			return
		}
		r := m.bench.survey()
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
		r := m.bench.survey()
		m.end = &r
	})
}

// sleepUntil blocks until a time on the clock's axis. It returns false if the trial was over before.
func (m *metering) sleepUntil(t int64) bool {
	timer := time.NewTimer(time.Duration(t - clock.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-m.over:
		return false
	}
}

// finish reads the meters after the drain and sets what the trial cost. If ctx has ended, it waits for no remote meter.
func (m *metering) finish(ctx context.Context, t *trial) {
	begin, end, drained := m.lastReadings()
	m.settleRemote(ctx, t, &begin, &end, &drained)
	useAgents(t.Parts, &begin, &end, &drained)
	for _, r := range []reading{begin, end, drained} {
		m.peak.add(r)
	}
	phase := m.intervalBetween(begin, end)
	busiest := phase
	if m.counted {
		busiest = busier(phase, m.intervalBetween(end, drained))
		if busiest.shares == nil { // each of the two is too short to tell, but both together may not be
			busiest = m.intervalBetween(begin, drained)
		}
	}
	t.Window = max(time.Duration(drained.at-begin.at), time.Millisecond)
	t.Cost = m.cost(begin, drained, t.Outcome)
	t.Cost.Seconds, t.Cost.Shares = t.Window.Seconds(), busiest.shares
	t.neighbours, t.brokerMayBeNeighbour = busiest.neighbours, m.bench.meters.hidden
	t.bursts = m.bursts
	t.GCPause, t.Queued, t.Stolen = end.gc-begin.gc, end.queued-begin.queued, phase.neighbours.Stolen
}

// lastReadings ends the metering and returns its three readings. One that was never taken, because the trial broke off before, is that
// after the drain.
func (m *metering) lastReadings() (begin, end, drained reading) {
	close(m.over)
	m.pending.Wait()
	drained = m.bench.survey()
	begin, end = drained, drained
	if m.begin != nil {
		begin = *m.begin
	}
	if m.end != nil && m.end.at > begin.at {
		end = *m.end
	}
	return begin, end, drained
}
