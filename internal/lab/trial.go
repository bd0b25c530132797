package lab

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// trial is one run of load with what it cost.
type trial struct {
	worker.Outcome
	Rate   float64 // offered; 0: closed loop
	Cost   store.Cost
	Window time.Duration // over which the cost was taken
	Series []store.Tick
	Faults []store.FaultEvent
	Doubts []store.Doubt // that don't follow from the figures
	Others float64 // cores that other processes, or the hypervisor for others, used meanwhile
}

// shareWindow is the shortest time over which shares of the processor mean anything: the kernel accounts in ticks of up to
// 10 ms.
const shareWindow = 100 * time.Millisecond

// share is how many cores so many seconds of processor time are over the trial's window; 0 where that is too short to
// tell.
func (t trial) share(seconds float64) float64 {
	if t.Window < shareWindow {
		return 0
	}
	return seconds / t.Window.Seconds()
}

func (t trial) generatorCPU() float64 {
	return t.share(t.Cost.GeneratorUserSeconds + t.Cost.GeneratorSystemSeconds)
}

func (t trial) brokerCPU() float64 {
	return t.share(t.Cost.BrokerUserSeconds + t.Cost.BrokerSystemSeconds)
}

// flow is how many confirmations and deliveries came per second between the first and the last sample of the measured
// phase, whichever phase their messages belong to.
func (t trial) flow() (acked, received float64, ok bool) {
	var first, last *worker.Sample
	for i := range t.Samples {
		s := &t.Samples[i]
		if s.At >= t.From && s.At <= t.Until {
			if first == nil {
				first = s
			}
			last = s
		}
	}
	if first == nil || last == first {
		return 0, 0, false
	}
	elapsed := float64(last.At-first.At) / 1e9
	acked = float64(last.Count.Acked-first.Count.Acked) / elapsed
	received = float64(last.Count.Received-first.Count.Received) / elapsed
	return acked, received, true
}

// rates are how many messages of the measured phase were confirmed and delivered per second of it. What only the drain
// brought is no throughput: where the broker fell behind, it is what came during the phase.
func (t trial) rates(seconds float64) (acked, received float64) {
	if seconds <= 0 {
		return 0, 0
	}
	acked, received = float64(t.Measured.Acked)/seconds, float64(t.Measured.Received)/seconds
	if a, r, ok := t.flow(); ok {
		return throughput(acked, a, seconds), throughput(received, r, seconds)
	}
	return acked, received
}

// throughput is the booked rate unless the flow stayed behind it by more than the edges of its samples explain.
func throughput(booked, flow, seconds float64) float64 {
	const share, long = 0.02, 0.1 // of the messages; seconds' worth of them
	if behind := 1 - flow/booked; behind > share && behind*seconds > long {
		return flow
	}
	return booked
}

// runTrial runs one load: it meters from the start of the measured phase to the end of the drain, injects the spec's
// faults, samples the series and passes samples on to whoever watches.
func (b *bench) runTrial(ctx context.Context, stage string, rate float64, load worker.Load) trial {
	ctx, unguard := b.guard(ctx)
	defer unguard()
	b.stage(Event{Kind: Staged, Stage: stage, Target: rate})
	// A collection that a previous trial's garbage would otherwise force into this one.
	runtime.GC()
	m := &metering{bench: b, rate: rate, stage: stage, over: make(chan struct{})}
	faults := newFaults(b)
	load.Lossy = b.spec.Delivery == "at-most-once"
	load.Measuring = func(at int64) {
		m.measuring(at)
		faults.begin(ctx, at)
	}
	load.Observe = m.observe
	out := b.agent.Run(ctx, load)
	t := trial{Outcome: out, Rate: rate, Series: m.series(out)}
	t.Faults, t.Doubts = faults.end()
	if cause := context.Cause(ctx); errors.Is(cause, errDied) {
		t.Err = cause
	}
	t.Cost, t.Window = m.cost(out)
	t.Others = max(0, t.share(m.busy)-t.brokerCPU()-t.generatorCPU())
	b.before = out
	return t
}

// metering reads the meters around the measured phase.
type metering struct {
	bench *bench
	rate  float64
	stage string
	begin chan reading  // holds the first reading once the measured phase has begun; nil before that is decided
	over  chan struct{} // closed when the trial has ended
	last  reading
	cpu   Cores
	cpus  []Cores // one per observed sample
	peak  reading // largest memory seen
	busy  float64 // processor seconds the whole machine spent between the readings of cost
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
	m.peak.broker.RSSBytes = max(m.peak.broker.RSSBytes, r.broker.RSSBytes)
	m.peak.self.RSSBytes = max(m.peak.self.RSSBytes, r.self.RSSBytes)
	return r
}

// measuring takes the first reading when the measured phase begins, at on the clock's axis.
func (m *metering) measuring(at int64) {
	m.begin = make(chan reading, 1)
	go func() {
		select {
		case <-time.After(time.Duration(at - clock.Now())):
			m.begin <- (&metering{bench: m.bench}).read()
		case <-m.over: // interrupted in warm-up
		}
	}()
}

// meterEvery is how many samples share one reading of the meters.
const meterEvery = 5

func (m *metering) observe(s worker.Sample) {
	if len(m.cpus)%meterEvery == 0 {
		r := m.read()
		if m.last.at > 0 {
			seconds := float64(r.at-m.last.at) / 1e9
			m.cpu = Cores{
				Broker:    (r.broker.User + r.broker.System - m.last.broker.User - m.last.broker.System).Seconds() / seconds,
				Generator: (r.self.User + r.self.System - m.last.self.User - m.last.self.System).Seconds() / seconds,
			}
		}
		m.last = r
	}
	m.cpus = append(m.cpus, m.cpu)
	m.bench.stage(Event{Kind: Sampled, Stage: m.stage, Target: m.rate, Sample: &s, CPU: m.cpu})
}

// cost is what was used since the measured phase began.
func (m *metering) cost(out worker.Outcome) (store.Cost, time.Duration) {
	end := m.read()
	begin := end
	if m.begin != nil && out.From < end.at {
		begin = <-m.begin
	}
	close(m.over)
	m.busy = end.busy - begin.busy
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
	window := max(time.Duration(end.at-begin.at), time.Millisecond)
	c.Seconds = window.Seconds()
	if end.broker.DiskWriteBytes < 0 {
		c.BrokerDiskWriteBytes = -1
	}
	if out.Measured.Sent > 0 {
		c.Bytes = int64(float64(out.Measured.Bytes) * float64(out.Measured.Acked) / float64(out.Measured.Sent))
	}
	return c, window
}

// series turns samples into ticks, two a second.
func (m *metering) series(out worker.Outcome) []store.Tick {
	const every = int(500 * time.Millisecond / worker.SampleEvery)
	var ticks []store.Tick
	for i := every; i < len(out.Samples); i += every {
		s, was := out.Samples[i], out.Samples[i-every]
		seconds := float64(s.At-was.At) / 1e9
		t := store.Tick{
			OffsetNs: s.At - out.From, Phase: "measure", Backlog: s.Backlog,
			PublishRate: float64(s.Count.Acked-was.Count.Acked) / seconds,
			ReceiveRate: float64(s.Count.Received-was.Count.Received) / seconds,
			EndToEndP50: s.EndToEnd.P50, EndToEndP99: s.EndToEnd.P99,
		}
		if s.At < out.From {
			t.Phase = "warmup"
		} else if !s.Sending {
			t.Phase = "drain"
		}
		if j := i * len(m.cpus) / len(out.Samples); j < len(m.cpus) {
			t.BrokerCPU, t.GeneratorCPU = m.cpus[j].Broker, m.cpus[j].Generator
		}
		ticks = append(ticks, t)
	}
	return ticks
}
