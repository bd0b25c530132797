package lab

import (
	"context"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
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
// While the trial runs, observe reads the meters about twice a second, for the live view and for the series.
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
		if !clock.Reach(begin, m.over) {
			return
		}
		r := m.readPhase()
		m.begin = &r
		if length > 0 && clock.Reach(begin+int64(length), m.over) {
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

// liveMeters is what a metering, the meters of one trial, shows while the trial runs, for the live view and for the series of the record.
// All cores are those in use between the last two readings, about half a second apart; 0 before the second.
type liveMeters struct {
	latest       *reading // nil before the first
	cores        Cores
	perSample    worker.Thinned[Cores] // cores at each sample, at most maxCores of them
	agents       []AgentCores          // none if the generator is this process
	agentSeconds map[string]float64    // processor time that each agent had used at the latest reading, by its name
}

// meterEvery is the least time between two readings of the meters for observe. A worker has a sample observed every 100 ms, so
// about five share a reading: in less time, the kernel's ticks of up to 10 ms would show. The samples of an agent that was silent
// come all at once and share one, too.
const meterEvery = 450 * time.Millisecond

// maxCores bounds the values of Cores that a metering keeps, one for each sample: with a sample every 100 ms, all of 17 minutes, every
// second one of 33 minutes, and so on.
const maxCores = 10_000

// observe reports a sample, with the cores in use.
func (m *metering) observe(s worker.Sample) {
	if m.live.latest == nil || clock.Now()-m.live.latest.at >= int64(meterEvery) {
		m.readLive()
	}
	m.live.perSample.Add(m.live.cores)
	m.bench.report(Event{Kind: Sampled, Stage: m.stage, Target: m.rate, Sample: &s, CPU: m.live.cores, Agents: m.live.agents})
}

// readLive reads the meters, sets the cores in use since the reading before, and notes the largest memory and what the hypervisor took.
func (m *metering) readLive() {
	r, before := m.bench.read(), m.live.latest
	r.stolen = provision.StolenFromCores()
	m.peak.add(r)
	elapsed := 0.0
	if before != nil {
		elapsed = seconds(before.at, r.at)
		m.live.cores = m.coresBetween(*before, r)
		m.addBurst(*before, r)
	}
	m.live.latest = &r
	if crew, ok := m.bench.clients.agent.(agent.Crew); ok {
		m.live.readAgents(crew, elapsed)
	}
}

// readAgents sets the cores in use by each agent in the elapsed seconds since the last call. They are 0 for an agent that was not
// there before.
func (l *liveMeters) readAgents(crew agent.Crew, elapsed float64) {
	used := map[string]float64{}
	l.agents = nil // events that were reported hold the list before
	for _, a := range crew.Each() {
		used[a.Name] = processor(a.Used)
		c := AgentCores{Name: a.Name}
		if before, known := l.agentSeconds[a.Name]; known && elapsed > 0 {
			c.Cores = max(0, used[a.Name]-before) / elapsed // an agent that was started anew counts from 0
		}
		l.agents = append(l.agents, c)
	}
	l.agentSeconds = used
}
