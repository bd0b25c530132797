package lab

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// metering reads the meters around the measured phase of one trial: when it begins and when it ends, which is what
// shares of the processor are of, and after the drain, which is part of the cost.
type metering struct {
	bench *bench
	rate  float64
	stage string

	reading sync.WaitGroup // for begin and until
	begin   *reading       // nil: the measured phase never began
	ended   sync.Once
	until   *reading      // nil: the trial ended within it
	over    chan struct{} // closed when the trial has ended

	last reading
	cpu  Cores
	cpus worker.Thinned[Cores] // one per observed sample
	n    int                   // of these
	peak reading               // largest memory seen
}

// meter reads what a broker's processes use.
type meter interface {
	Sample() provision.Usage
	Roots() []int // the processes whose trees are the broker's
	PIDs() []int  // the broker's own
}

type reading struct {
	at     int64
	broker provision.Usage
	self   provision.Usage // the producing side, and the consuming one where that has no process of its own
	away   provision.Usage // the consuming side, where it has a process of its own
	relays provision.Usage
	gc     time.Duration // pauses of the garbage collector
	both   int64         // of peak: RSSBytes of self and away together
	queued time.Duration // threads of this process waited for a core
	all    provision.Census
	data   int64 // bytes in the data directories of a broker that was started here
	calls  int64 // of the broker's processes, to flush files; unknown: -1
	gaps   int64 // in the count of these
	roots  []int
}

func (m *metering) read() reading {
	r := reading{at: clock.Now(), self: provision.SelfUsage(), queued: m.bench.queue.Delay()}
	if m.bench.agent != nil {
		r.self = m.bench.agent.Used()
	}
	if m.bench.meter != nil {
		r.broker = m.bench.meter.Sample()
		r.calls, r.gaps = m.bench.flushed()
	}
	if c := m.bench.consuming; c != nil {
		r.away = c.Meter().Sample()
	}
	if in := m.bench.relays; in != nil {
		r.relays = in.Meter().Sample()
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	r.gc = gc.PauseTotal
	return r
}

// survey reads every process of the machine and every data file as well, which takes milliseconds: not while a load is measured.
func (m *metering) survey() reading {
	r := m.read()
	r.all = provision.TakeCensus()
	if in := m.bench.instance; in != nil {
		r.data = in.Meter().DataBytes()
	}
	if m.bench.meter != nil {
		r.roots = m.bench.meter.Roots()
	}
	for _, in := range []*provision.Instance{m.bench.consuming, m.bench.relays} {
		if in != nil {
			r.roots = append(r.roots, in.Meter().Roots()...)
		}
	}
	r.roots = append(r.roots, m.bench.lab.agentsHere()...)
	if p := m.bench.pipeline; p != nil { // its parts are no strangers
		for _, in := range p.instances() {
			if in != nil {
				r.roots = append(r.roots, in.Meter().Roots()...)
			}
		}
	}
	return r
}

// measuring has the meters read when the measured phase begins, at on the clock's axis, and when it ends. A length of 0
// leaves that to sent.
func (m *metering) measuring(at int64, length time.Duration) {
	m.reading.Go(func() {
		if !m.wait(at) { // interrupted in warm-up
			return
		}
		r := m.survey()
		m.begin = &r
		if length > 0 && m.wait(at+int64(length)) {
			m.end()
		}
	})
}

// sent has the meters read now: the last of a number of messages has been sent, or the measured phase was cut short.
func (m *metering) sent() { m.reading.Go(m.end) }

// end reads the meters when the measured phase ends, the first time that it does.
func (m *metering) end() {
	m.ended.Do(func() {
		r := m.survey()
		m.until = &r
	})
}

// wait blocks until a time on the clock's axis; false: the trial was over before it.
func (m *metering) wait(until int64) bool {
	timer := time.NewTimer(time.Duration(until - clock.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-m.over:
		return false
	}
}

// meterEvery is how many samples share one reading of the meters.
const meterEvery = 5

func (m *metering) observe(s worker.Sample) {
	if m.n%meterEvery == 0 {
		r := m.read()
		m.remember(r)
		if m.last.at > 0 {
			seconds := float64(r.at-m.last.at) / 1e9
			m.cpu = Cores{
				Broker:       (processor(r.broker) - processor(m.last.broker)) / seconds,
				Generator:    (r.generator() - m.last.generator()) / seconds,
				BrokerUser:   (r.broker.User - m.last.broker.User).Seconds() / seconds,
				BrokerSystem: (r.broker.System - m.last.broker.System).Seconds() / seconds,
				Sides:        m.sidesOver(m.last, r),
			}
		}
		m.last = r
	}
	m.cpus.Add(m.cpu)
	m.n++
	m.bench.stage(Event{Kind: Sampled, Stage: m.stage, Target: m.rate, Sample: &s, CPU: m.cpu})
}

// generator is the processor time of producing and consuming side.
func (r reading) generator() float64 { return processor(r.self) + processor(r.away) }

// side is what one side used between two readings.
func side(begin, end, peak provision.Usage) store.Side {
	return store.Side{
		UserSeconds: (end.User - begin.User).Seconds(), SystemSeconds: (end.System - begin.System).Seconds(), RSSBytes: peak.RSSBytes,
	}
}

// sidesOver are the cores in use by each side between two readings, and its memory at the second; nil where there is one
// process.
func (m *metering) sidesOver(from, to reading) *store.SidesTick {
	if m.bench.consuming == nil {
		return nil
	}
	seconds := float64(to.at-from.at) / 1e9
	of := func(from, to provision.Usage) store.SideTick {
		return store.SideTick{
			User: (to.User - from.User).Seconds() / seconds, System: (to.System - from.System).Seconds() / seconds, RSSBytes: to.RSSBytes,
		}
	}
	return &store.SidesTick{Producing: of(from.self, to.self), Consuming: of(from.away, to.away)}
}

// remember keeps the largest memory seen.
func (m *metering) remember(r reading) {
	m.peak.broker.RSSBytes = max(m.peak.broker.RSSBytes, r.broker.RSSBytes)
	m.peak.self.RSSBytes = max(m.peak.self.RSSBytes, r.self.RSSBytes)
	m.peak.away.RSSBytes = max(m.peak.away.RSSBytes, r.away.RSSBytes)
	m.peak.relays.RSSBytes = max(m.peak.relays.RSSBytes, r.relays.RSSBytes)
	m.peak.both = max(m.peak.both, r.self.RSSBytes+r.away.RSSBytes)
}

// finish reads the meters after the drain and sets what the trial cost; counted: a number of messages ended it, not time.
func (m *metering) finish(t *trial, counted bool) {
	close(m.over)
	m.reading.Wait()
	end := m.survey()
	begin := end
	if m.begin != nil {
		begin = *m.begin
	}
	until := end
	if m.until != nil && m.until.at > begin.at {
		until = *m.until
	}
	begin, until, end = byAgents(begin, until, end, t.Parts)
	for _, r := range []reading{begin, until, end} {
		m.remember(r)
	}
	t.Cost = m.cost(begin, end, t.Outcome)
	t.Window = max(time.Duration(end.at-begin.at), time.Millisecond)
	t.Cost.Seconds = t.Window.Seconds()
	p := m.phase(begin, until)
	t.GCPause, t.Queued, t.Stolen = until.gc-begin.gc, until.queued-begin.queued, p.near.Stolen
	if counted { // the messages that come after the last was sent are part of what is measured
		p = busier(p, m.phase(until, end))
	}
	if p.shares == nil && counted {
		p = m.phase(begin, end)
	}
	t.Cost.Shares, t.near, t.amongOthers = p.shares, p.near, m.bench.hidden
}

// cost is what was used between two readings, for the confirmed messages of the measured phase.
func (m *metering) cost(begin, end reading, out worker.Outcome) store.Cost {
	c := store.Cost{
		GeneratorUserSeconds:   (end.self.User - begin.self.User + end.away.User - begin.away.User).Seconds(),
		GeneratorSystemSeconds: (end.self.System - begin.self.System + end.away.System - begin.away.System).Seconds(),
		GeneratorRSSBytes:      m.peak.both,
		GeneratorGCPauseNs:     int64(end.gc - begin.gc),
		Messages:               out.Measured.Acked,
	}
	if m.bench.consuming != nil {
		c.Sides = &store.Sides{Producing: side(begin.self, end.self, m.peak.self), Consuming: side(begin.away, end.away, m.peak.away)}
	}
	if m.bench.relays != nil {
		c.Relays = new(side(begin.relays, end.relays, m.peak.relays))
	}
	if out.Measured.Sent > 0 {
		c.Bytes = int64(float64(out.Measured.Bytes) * float64(out.Measured.Acked) / float64(out.Measured.Sent))
	}
	if !m.bench.whole {
		return c
	}
	c.BrokerKnown = true
	c.BrokerUserSeconds = (end.broker.User - begin.broker.User).Seconds()
	c.BrokerSystemSeconds = (end.broker.System - begin.broker.System).Seconds()
	c.BrokerRSSBytes = m.peak.broker.RSSBytes
	c.BrokerDiskWriteBytes = end.broker.DiskWriteBytes - begin.broker.DiskWriteBytes
	if end.broker.DiskWriteBytes < 0 {
		c.BrokerDiskWriteBytes = -1
	}
	if end.broker.DiskReadBytes >= 0 && begin.broker.DiskReadBytes >= 0 {
		c.BrokerDiskReadBytes = new(end.broker.DiskReadBytes - begin.broker.DiskReadBytes)
	}
	if end.calls >= 0 && begin.calls >= 0 && end.gaps == begin.gaps {
		c.BrokerFlushes = new(end.calls - begin.calls)
	}
	c.BrokerDataGrowthBytes = end.data - begin.data
	if m.bench.instance == nil {
		c.BrokerDataGrowthBytes = -1
	}
	return c
}
