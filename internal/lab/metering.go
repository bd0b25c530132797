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
}

type reading struct {
	at     int64
	broker provision.Usage
	self   provision.Usage
	gc     time.Duration // pauses of the garbage collector
	queued time.Duration // threads of this process waited for a core
	all    provision.Census
	roots  []int
}

func (m *metering) read() reading {
	r := reading{at: clock.Now(), self: provision.SelfUsage(), queued: m.bench.queue.Delay()}
	if m.bench.meter != nil {
		r.broker = m.bench.meter.Sample()
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	r.gc = gc.PauseTotal
	return r
}

// survey reads every process of the machine as well, which takes milliseconds: not while a load is measured.
func (m *metering) survey() reading {
	r := m.read()
	r.all = provision.TakeCensus()
	if m.bench.meter != nil {
		r.roots = m.bench.meter.Roots()
	}
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
				Generator:    (processor(r.self) - processor(m.last.self)) / seconds,
				BrokerUser:   (r.broker.User - m.last.broker.User).Seconds() / seconds,
				BrokerSystem: (r.broker.System - m.last.broker.System).Seconds() / seconds,
			}
		}
		m.last = r
	}
	m.cpus.Add(m.cpu)
	m.n++
	m.bench.stage(Event{Kind: Sampled, Stage: m.stage, Target: m.rate, Sample: &s, CPU: m.cpu})
}

// remember keeps the largest memory seen.
func (m *metering) remember(r reading) {
	m.peak.broker.RSSBytes = max(m.peak.broker.RSSBytes, r.broker.RSSBytes)
	m.peak.self.RSSBytes = max(m.peak.self.RSSBytes, r.self.RSSBytes)
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
	for _, r := range []reading{begin, until, end} {
		m.remember(r)
	}
	t.Cost = m.cost(begin, end, t.Outcome)
	t.Window = max(time.Duration(end.at-begin.at), time.Millisecond)
	t.Cost.Seconds = t.Window.Seconds()
	p := newPhase(begin, until)
	t.GCPause, t.Queued, t.Stolen = until.gc-begin.gc, until.queued-begin.queued, p.near.Stolen
	if counted { // the messages that come after the last was sent are part of what is measured
		p = busier(p, newPhase(until, end))
	}
	if p.shares == nil && counted {
		p = newPhase(begin, end)
	}
	t.Cost.Shares, t.near, t.amongOthers = p.shares, p.near, m.bench.hidden
}

// cost is what was used between two readings, for the confirmed messages of the measured phase.
func (m *metering) cost(begin, end reading, out worker.Outcome) store.Cost {
	c := store.Cost{
		GeneratorUserSeconds:   (end.self.User - begin.self.User).Seconds(),
		GeneratorSystemSeconds: (end.self.System - begin.self.System).Seconds(),
		GeneratorRSSBytes:      m.peak.self.RSSBytes,
		GeneratorGCPauseNs:     int64(end.gc - begin.gc),
		Messages:               out.Measured.Acked,
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
	c.BrokerDataGrowthBytes = end.broker.DataBytes - begin.broker.DataBytes
	if m.bench.instance == nil {
		c.BrokerDataGrowthBytes = -1
	}
	return c
}
