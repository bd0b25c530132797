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
	until   *reading       // nil: the trial ended within it
	over    chan struct{}  // closed when the trial has ended

	last reading
	cpu  Cores
	cpus []Cores // one per observed sample
	peak reading // largest memory seen
}

type reading struct {
	at     int64
	broker provision.Usage
	self   provision.Usage
	gc     time.Duration
	busy   float64 // processor seconds of the whole machine
}

func (m *metering) read() reading {
	r := reading{at: clock.Now(), self: provision.SelfUsage(), busy: machineBusy()}
	if in := m.bench.instance; in != nil {
		r.broker = in.Meter().Sample()
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	r.gc = gc.PauseTotal
	return r
}

// measuring has the meters read when the measured phase begins, at on the clock's axis, and when it ends. A length of 0
// leaves that to sent.
func (m *metering) measuring(at int64, length time.Duration) {
	m.reading.Go(func() {
		if !m.wait(at) { // interrupted in warm-up
			return
		}
		r := m.read()
		m.begin = &r
		if length > 0 && m.wait(at+int64(length)) {
			r := m.read()
			m.until = &r
		}
	})
}

// sent has the meters read when the last of a number of messages has been sent.
func (m *metering) sent() {
	m.reading.Go(func() {
		r := m.read()
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
	if len(m.cpus)%meterEvery == 0 {
		r := m.read()
		m.remember(r)
		if m.last.at > 0 {
			seconds := float64(r.at-m.last.at) / 1e9
			m.cpu = Cores{
				Broker:    (processor(r.broker) - processor(m.last.broker)) / seconds,
				Generator: (processor(r.self) - processor(m.last.self)) / seconds,
			}
		}
		m.last = r
	}
	m.cpus = append(m.cpus, m.cpu)
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
	end := m.read()
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
	t.Cost.Shares = shares(begin, until)
	if counted { // the messages that come after the last was sent are part of what is measured
		t.Cost.Shares = busier(t.Cost.Shares, shares(until, end))
	}
	if t.Cost.Shares == nil && counted {
		t.Cost.Shares = shares(begin, end)
	}
}

// cost is what was used between two readings, for the confirmed messages of the measured phase.
func (m *metering) cost(begin, end reading, out worker.Outcome) store.Cost {
	c := store.Cost{
		BrokerKnown:            m.bench.instance != nil,
		BrokerUserSeconds:      (end.broker.User - begin.broker.User).Seconds(),
		BrokerSystemSeconds:    (end.broker.System - begin.broker.System).Seconds(),
		BrokerRSSBytes:         m.peak.broker.RSSBytes,
		BrokerDiskWriteBytes:   end.broker.DiskWriteBytes - begin.broker.DiskWriteBytes,
		BrokerDataGrowthBytes:  end.broker.DataBytes - begin.broker.DataBytes,
		GeneratorUserSeconds:   (end.self.User - begin.self.User).Seconds(),
		GeneratorSystemSeconds: (end.self.System - begin.self.System).Seconds(),
		GeneratorRSSBytes:      m.peak.self.RSSBytes,
		GeneratorGCPauseNs:     int64(end.gc - begin.gc),
		Messages:               out.Measured.Acked,
	}
	if end.broker.DiskWriteBytes < 0 {
		c.BrokerDiskWriteBytes = -1
	}
	if out.Measured.Sent > 0 {
		c.Bytes = int64(float64(out.Measured.Bytes) * float64(out.Measured.Acked) / float64(out.Measured.Sent))
	}
	return c
}

// shareWindow is the shortest time over which shares of the processor mean anything: the kernel accounts in ticks of up to
// 10 ms.
const shareWindow = 100 * time.Millisecond

// shares are the cores in use between two readings; nil where they are too close together to tell.
func shares(from, to reading) *store.Shares {
	if time.Duration(to.at-from.at) < shareWindow {
		return nil
	}
	seconds := float64(to.at-from.at) / 1e9
	s := &store.Shares{
		Seconds:   seconds,
		Broker:    (processor(to.broker) - processor(from.broker)) / seconds,
		Generator: (processor(to.self) - processor(from.self)) / seconds,
	}
	s.Others = max(0, (to.busy-from.busy)/seconds-s.Broker-s.Generator)
	return s
}

// busier are the shares of the part, before or after the last message was sent, in which broker and generator used more.
func busier(a, b *store.Shares) *store.Shares {
	if a == nil || b != nil && b.Broker+b.Generator > a.Broker+a.Generator {
		return b
	}
	return a
}

func processor(u provision.Usage) float64 { return (u.User + u.System).Seconds() }

func (t trial) generatorCPU() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	return t.Cost.Shares.Generator
}

func (t trial) brokerCPU() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	return t.Cost.Shares.Broker
}

func (t trial) others() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	return t.Cost.Shares.Others
}
