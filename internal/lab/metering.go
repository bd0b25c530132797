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

// metering reads the meters of one trial at three times:
//
//	warm-up | measured phase | drain |
//	        begin            end     when finish is called
//
// Shares of the processor are those of the measured phase. Cost includes the drain, because messages that the phase has sent
// are still being worked on. While the trial runs, observe reads the meters about twice a second, for the live view and for the
// series.
type metering struct {
	bench *bench
	stage string  // what the live view calls the trial
	rate  float64 // offered, messages per second; 0 in a closed loop
	// counted is set if a number of messages ends the measured phase, not time. What is measured then goes on until the last of
	// them has arrived.
	counted bool

	pending sync.WaitGroup // scheduled readings
	over    chan struct{}  // closed when the trial has ended
	begin   *reading       // when the measured phase began; nil if it never did
	endOnce sync.Once
	end     *reading // when the measured phase ended; nil if the trial ended before

	clockErr      error // why the clock of a remote meter is not known; nil if all are
	brokerUnknown bool  // a remote meter was lost, so what the broker used is not known

	// For observe.
	latest    *reading // nil before the first
	cores     Cores    // in use between the last two readings
	usage     agentUsage
	agents    []AgentCores
	perSample worker.Thinned[Cores]
	peak      peakMemory
}

// maxCores bounds the values of Cores that a metering keeps, one for each observed sample: all of 17 minutes, every second one
// of 33 minutes, and so on.
const maxCores = 10_000

func newMetering(b *bench, stage string, rate float64) *metering {
	return &metering{bench: b, stage: stage, rate: rate, over: make(chan struct{}), perSample: worker.Thinned[Cores]{Limit: maxCores}}
}

// follow has a load tell the meters when its phases begin and end. measuring is called with the start of the measured phase.
func (m *metering) follow(load *worker.Load, measuring func(at int64)) {
	load.Observe = m.observe
	load.Measuring = func(at int64) {
		m.schedule(at, load.Duration)
		measuring(at)
	}
	if m.counted = load.Messages > 0; m.counted {
		load.Sent = m.endNow
	}
	if hopeless := load.Hopeless; hopeless != nil {
		load.Hopeless = func(samples []worker.Sample) bool {
			ends := hopeless(samples)
			if ends {
				m.endNow()
			}
			return ends
		}
	}
}

// peakMemory is the largest resident memory that was read, in bytes.
type peakMemory struct {
	broker, self, consumers, relays int64
	generator                       int64 // self and consumers at the same time
}

func (p *peakMemory) add(r reading) {
	p.broker = max(p.broker, r.broker.RSSBytes)
	p.self = max(p.self, r.self.RSSBytes)
	p.consumers = max(p.consumers, r.consumers.RSSBytes)
	p.relays = max(p.relays, r.relays.RSSBytes)
	p.generator = max(p.generator, r.self.RSSBytes+r.consumers.RSSBytes)
}

// schedule has the meters read when the measured phase begins, at begin on the clock's axis, and when it ends, a length later.
// If length is 0, endNow ends it.
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

// endNow has the meters read now, because the last of a number of messages was sent or the measured phase is cut short. It does
// not block.
func (m *metering) endNow() { m.pending.Go(m.readEnd) }

// readEnd reads the meters when the measured phase ends. Only its first call counts.
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

// meterEvery is the least time between two readings of the meters for observe. A worker has a sample observed every 100 ms, so
// about five share a reading: in less time, the kernel's ticks of up to 10 ms would show. The samples of an agent that was silent
// come all at once and share one, too.
const meterEvery = 450 * time.Millisecond

// observe reports a sample, with the cores in use.
func (m *metering) observe(s worker.Sample) {
	if m.latest == nil || clock.Now()-m.latest.at >= int64(meterEvery) {
		r := m.bench.read()
		m.peak.add(r)
		if m.latest != nil {
			m.cores = m.coresBetween(*m.latest, r)
		}
		m.agents = m.coresOfAgents()
		m.latest = &r
	}
	m.perSample.Add(m.cores)
	m.bench.stage(Event{Kind: Sampled, Stage: m.stage, Target: m.rate, Sample: &s, CPU: m.cores, Agents: m.agents})
}

// finish reads the meters after the drain and sets what the trial cost. If ctx has ended, it waits for no remote meter.
func (m *metering) finish(ctx context.Context, t *trial) {
	close(m.over)
	m.pending.Wait()
	drained := m.bench.survey()
	begin, end := drained, drained
	if m.begin != nil {
		begin = *m.begin
	}
	if m.end != nil && m.end.at > begin.at {
		end = *m.end
	}
	m.settleRemote(ctx, t, &begin, &end, &drained)
	begin = begin.withAgents(t.Parts, func(p agent.Part) agent.Reading { begin, _ := p.Bounds(); return begin })
	end = end.withAgents(t.Parts, func(p agent.Part) agent.Reading { _, until := p.Bounds(); return until })
	drained = drained.withAgents(t.Parts, func(p agent.Part) agent.Reading { return p.End })
	for _, r := range []reading{begin, end, drained} {
		m.peak.add(r)
	}
	phase := m.intervalBetween(begin, end)
	shares := phase
	if m.counted {
		shares = busier(phase, m.intervalBetween(end, drained))
		if shares.shares == nil { // each of the two is too short to tell, but both together may not be
			shares = m.intervalBetween(begin, drained)
		}
	}
	t.Window = max(time.Duration(drained.at-begin.at), time.Millisecond)
	t.Cost = m.cost(begin, drained, t.Outcome)
	t.Cost.Seconds, t.Cost.Shares = t.Window.Seconds(), shares.shares
	t.neighbours, t.brokerMayBeNeighbour = shares.neighbours, m.bench.meters.hidden
	t.GCPause, t.Queued, t.Stolen = end.gc-begin.gc, end.queued-begin.queued, phase.neighbours.Stolen
}

// cost returns what was used between two readings, and the messages that it counts for: those of the measured phase that were
// confirmed.
func (m *metering) cost(begin, end reading, out worker.Outcome) store.Cost {
	c := store.Cost{
		GeneratorUserSeconds:   (end.self.User - begin.self.User + end.consumers.User - begin.consumers.User).Seconds(),
		GeneratorSystemSeconds: (end.self.System - begin.self.System + end.consumers.System - begin.consumers.System).Seconds(),
		GeneratorRSSBytes:      m.peak.generator,
		GeneratorGCPauseNs:     int64(end.gc - begin.gc),
		Messages:               out.Measured.Acked,
		Bytes:                  confirmedBytes(out),
	}
	if m.bench.clients.consumers != nil {
		c.Sides = &store.Sides{
			Producing: side(begin.self, end.self, m.peak.self),
			Consuming: side(begin.consumers, end.consumers, m.peak.consumers),
		}
	}
	if m.bench.clients.relays != nil {
		c.Relays = new(side(begin.relays, end.relays, m.peak.relays))
	}
	if m.bench.meters.complete && !m.brokerUnknown {
		m.addBroker(&c, begin, end)
	}
	return c
}

// confirmedBytes returns the payload bytes of confirmed messages, on the assumption that they are as large as all others.
func confirmedBytes(out worker.Outcome) int64 {
	if out.Measured.Sent == 0 {
		return 0
	}
	return int64(float64(out.Measured.Bytes) * float64(out.Measured.Acked) / float64(out.Measured.Sent))
}

// side returns what one process used between two readings.
func side(begin, end provision.Usage, peakBytes int64) store.Side {
	return store.Side{
		UserSeconds: (end.User - begin.User).Seconds(), SystemSeconds: (end.System - begin.System).Seconds(), RSSBytes: peakBytes,
	}
}

// addBroker adds what the broker used. What the kernel does not tell is unknown: -1 in the fields of DiskWriteBytes and
// DataGrowthBytes, and nil in those that are pointers.
func (m *metering) addBroker(c *store.Cost, begin, end reading) {
	c.BrokerKnown = true
	c.BrokerUserSeconds = (end.broker.User - begin.broker.User).Seconds()
	c.BrokerSystemSeconds = (end.broker.System - begin.broker.System).Seconds()
	c.BrokerRSSBytes = m.peak.broker
	c.BrokerDiskWriteBytes, c.BrokerDataGrowthBytes = -1, -1
	if begin.broker.DiskWriteBytes >= 0 && end.broker.DiskWriteBytes >= 0 {
		c.BrokerDiskWriteBytes = end.broker.DiskWriteBytes - begin.broker.DiskWriteBytes
	}
	if m.bench.broker.instance != nil {
		c.BrokerDataGrowthBytes = end.dataBytes - begin.dataBytes
	}
	if begin.broker.DiskReadBytes >= 0 && end.broker.DiskReadBytes >= 0 {
		c.BrokerDiskReadBytes = new(end.broker.DiskReadBytes - begin.broker.DiskReadBytes)
	}
	if begin.flushes >= 0 && end.flushes >= 0 && end.flushGaps == begin.flushGaps {
		c.BrokerFlushes = new(end.flushes - begin.flushes)
	}
}
